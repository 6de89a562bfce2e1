package io.conclave.examples;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The outcome of the lock demo: the table, and every violation in it. */
final class LockDemoReport {
    /**
     * A dead holder's session ends at the timeout, counted from its last heartbeat; the server looks every half tick,
     * and processes need a moment.
     */
    private final List<HeldTurn> turns;

    private final String victim;
    private final long killedAtMs;
    private final long sessionTimeoutMs;
    private final List<String> problems = new ArrayList<>();

    LockDemoReport(List<HeldTurn> turns, String victim, long killedAtMs, long sessionTimeoutMs) {
        this.turns = turns.stream()
                .sorted(Comparator.comparingLong(HeldTurn::fromMs))
                .toList();
        this.victim = victim;
        this.killedAtMs = killedAtMs;
        this.sessionTimeoutMs = sessionTimeoutMs;
    }

    /** Prints the report; answers with what is wrong, empty if all is well. */
    List<String> print(long count) {
        printTurns();
        checkOrder();
        checkCount(count);
        checkKill();
        return problems;
    }

    private void printTurns() {
        long start = turns.isEmpty() ? 0 : turns.get(0).fromMs();
        System.out.printf("%-10s %10s %10s   %s%n", "holder", "from ms", "to ms", "token (generation:sequence)");
        for (HeldTurn turn : turns) {
            System.out.printf(
                    "%-10s %10d %10d   %s%s%n",
                    turn.holder(),
                    turn.fromMs() - start,
                    turn.toMs() - start,
                    turn.token(),
                    turn.finished() ? "" : "   killed while holding");
        }
    }

    private void checkOrder() {
        for (int i = 1; i < turns.size(); i++) {
            HeldTurn before = turns.get(i - 1);
            HeldTurn after = turns.get(i);
            if (after.fromMs() < before.toMs()) {
                problems.add(after + " overlaps " + before);
            }
            if (after.token().compareTo(before.token()) <= 0) {
                problems.add(after + " has no larger token than " + before);
            }
        }
        if (problems.isEmpty()) {
            System.out.println(
                    "Nobody overlapped, and every token is larger than the one before: " + turns.size() + " turns.");
        }
    }

    private void checkCount(long count) {
        long finished = turns.stream().filter(HeldTurn::finished).count();
        // The victim may have written its count and died before it could say so.
        if (count < finished || count > finished + 1) {
            problems.add("The counter stands at " + count + " after " + finished + " finished turns");
        } else {
            System.out.println(
                    "The counter stands at " + count + " after " + finished + " finished turns: no count was lost.");
        }
    }

    private void checkKill() {
        if (killedAtMs == 0) {
            problems.add(victim + " was never killed while holding");
            return;
        }
        long next = turns.stream()
                .mapToLong(HeldTurn::fromMs)
                .filter(from -> from >= killedAtMs)
                .min()
                .orElse(Long.MAX_VALUE);
        long gap = next - killedAtMs;
        if (gap > sessionTimeoutMs + DemoStage.TOLERANCE_MS) {
            problems.add("The next grant came " + gap + " ms after the kill; the session timeout is " + sessionTimeoutMs
                    + " ms");
        } else {
            System.out.println("The next grant came " + gap + " ms after the kill; the session timeout is "
                    + sessionTimeoutMs + " ms.");
        }
    }
}
