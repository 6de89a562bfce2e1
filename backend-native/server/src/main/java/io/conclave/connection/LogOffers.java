package io.conclave.connection;

import io.conclave.consensus.LogRole;
import java.util.function.BooleanSupplier;

/**
 * What one connection gives to the log: if the log does not take it now, it is tried again later, and the connection
 * reads nothing until then. Belongs to the connection's loop.
 */
final class LogOffers {
    /** The connection. */
    interface Owner {
        boolean isGone();

        /** Goes on after something that held it up. */
        void resume();

        void close(String reason);
    }

    private final Owner owner;
    private final Loop loop;

    /** Several may wait at once, since not all of them come from what was read. */
    private int waiting;

    LogOffers(Owner owner, Loop loop) {
        this.owner = owner;
        this.loop = loop;
    }

    /** Whether something waits for the log to take it; only when nothing does may the next request go. */
    boolean areWaiting() {
        return waiting != 0;
    }

    /** Proposes it as soon as the log takes it. */
    void propose(ConnectionProposal proposal) {
        offer(() -> loop.log().propose(proposal));
    }

    /** Runs the action on the loop once that shows everything which was committed before this call. */
    void readBarrier(Runnable action) {
        offer(() -> loop.log().readBarrier(() -> loop.postBehindSteps(action)));
    }

    private void offer(BooleanSupplier attempt) {
        if (attempt.getAsBoolean()) {
            return;
        }
        LogRole role = loop.log().status().role();
        if (role == LogRole.CLOSED || role == LogRole.FAILED) {
            owner.close("the log takes no more");
            return;
        }
        waiting++;
        loop.retryLater(() -> {
            if (!owner.isGone()) {
                waiting--;
                offer(attempt);
                owner.resume();
            }
        });
    }
}
