package io.conclave.locks;

import io.conclave.time.TimeSource;
import java.time.Duration;

/**
 * How many turns one place in the line has had, and whether the next one is its end. Guarded by its {@link KeptPlace}.
 */
final class KeptTurns {
    private final Keeping keeping;
    private final TimeSource time;
    private long turns;
    private boolean wanted; // by another contender of the line
    private long wantedSinceNanos;
    private int handOvers; // since then
    private boolean ending;

    KeptTurns(Keeping keeping, TimeSource time) {
        this.keeping = keeping;
        this.time = time;
    }

    /** The next turn begins; which it is, from 0 on. */
    long next() {
        handOvers++;
        return turns++;
    }

    /** Another contender waits for the place. */
    void wantedByAnother() {
        wanted = true;
        wantedSinceNanos = time.monotonicNanos();
        handOvers = 0;
    }

    /** This turn is the last one, whatever else. */
    void end() {
        ending = true;
    }

    boolean isEnding() {
        return ending;
    }

    /**
     * Whether the place is to be given up between two turns.
     *
     * @param nobodyWaits of this process
     */
    boolean mustGiveWay(boolean nobodyWaits) {
        if (turns == 0 && !nobodyWaits) {
            return false;
        }
        if (ending || (nobodyWaits && (wanted || keeping.idle().isZero()))) {
            return true;
        }
        return wanted
                && (handOvers >= keeping.handOvers()
                        || Duration.ofNanos(time.monotonicNanos() - wantedSinceNanos)
                                        .compareTo(keeping.time())
                                >= 0);
    }
}
