package io.conclave.consensus.core;

import java.util.HashSet;
import java.util.Set;
import java.util.function.ToIntFunction;

/**
 * A leader's transfer of its leadership (§3.10): to the member that was named, or to any voter, and then to the next
 * one if the first declines. None is under way at first.
 */
final class Transfer {
    /** The member that leadership is being transferred to; 0 for none. */
    private int successor;

    /** Whether another member will do as well as the successor. */
    private boolean toAny;

    /** The members that have declined in the present transfer. */
    private final Set<Integer> decliners = new HashSet<>();

    private long endsMs;
    private boolean told;

    boolean isRunning() {
        return successor != 0;
    }

    /** The member that leadership is being transferred to; 0 for none. */
    int successor() {
        return successor;
    }

    /** When it is given up; only while it runs. */
    long endsMs() {
        return endsMs;
    }

    /** The members that have declined in this transfer, or in the last one. */
    Set<Integer> decliners() {
        return decliners;
    }

    /** @param to the member that was named; 0 if any voter will do: the best */
    void begin(int to, int best, long newEndsMs) {
        decliners.clear();
        toAny = to == 0;
        successor = toAny ? best : to;
        told = false;
        endsMs = newEndsMs;
    }

    void end() {
        successor = 0;
    }

    void tick(long nowMs) {
        if (isRunning() && nowMs >= endsMs) {
            end();
        }
    }

    /** Whether the successor has still to be told to stand for election. */
    boolean isUntold() {
        return isRunning() && !told;
    }

    void told() {
        told = true;
    }

    /**
     * The member does not stand for election now. If it was asked to, another one is, should that do; else the transfer
     * has failed.
     *
     * @param best gives the best successor but for some; 0 for none
     */
    void declined(int member, ToIntFunction<Set<Integer>> best) {
        if (member == successor && told) {
            decliners.add(member);
            successor = toAny ? best.applyAsInt(decliners) : 0;
            told = false;
        }
    }
}
