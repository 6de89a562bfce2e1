package io.conclave.locks;

import java.util.ArrayList;
import java.util.List;

/**
 * How many permits each actor had, and when: each is counted from right after the grant until right before it is given
 * back, which is when its holder relies on it. Thread-safe.
 */
final class PermitHistory {
    private final List<String> events = new ArrayList<>(); // guarded by this, as all below
    private final List<String> violations = new ArrayList<>();
    private int allowed;
    private int out;
    private int most;
    private int grants;

    PermitHistory(int allowed) {
        this.allowed = allowed;
    }

    /** From now on more may be out; to be called right before the number is raised. */
    synchronized void mayBe(int permits) {
        allowed = permits;
        note("allowed " + permits);
    }

    synchronized void granted(String who, int permits) {
        out += permits;
        most = Math.max(most, out);
        grants++;
        note(who + " +" + permits);
        if (out > allowed) {
            violations.add(out + " of " + allowed + " permits are out: "
                    + events.subList(Math.max(0, events.size() - 20), events.size()));
        }
    }

    synchronized void released(String who, int permits) {
        out -= permits;
        note(who + " -" + permits);
    }

    private void note(String event) {
        events.add(System.nanoTime() / 1000 + "us " + event + " = " + out);
    }

    synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    /** The most permits that were ever out. */
    synchronized int most() {
        return most;
    }

    synchronized int grants() {
        return grants;
    }
}
