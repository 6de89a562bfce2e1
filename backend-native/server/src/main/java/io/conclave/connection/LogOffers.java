package io.conclave.connection;

import io.conclave.consensus.LogRole;
import java.util.function.BooleanSupplier;

/**
 * What one connection gives to the log: if the log does not take it now, it is tried again later, and the connection
 * reads nothing until then. Belongs to the connection's loop.
 */
final class LogOffers {
    private final ClientConnection connection;
    private final Loop loop;

    /** Several may wait at once, since not all of them come from what was read. */
    private int waiting;

    LogOffers(ClientConnection connection) {
        this.connection = connection;
        this.loop = connection.loop();
    }

    /** Whether something waits for the log to take it; only when nothing does may the next request go. */
    boolean areWaiting() {
        return waiting != 0;
    }

    /** Proposes it as soon as the log takes it, or tells it that this will not be. */
    void propose(ConnectionProposal proposal) {
        offer(() -> loop.log().propose(proposal), proposal::neverProposed);
    }

    /** Runs the action on the loop once that shows everything which was committed before this call. */
    void readBarrier(Runnable action) {
        offer(() -> loop.log().readBarrier(() -> loop.postBehindSteps(action)), () -> {});
    }

    private void offer(BooleanSupplier attempt, Runnable givenUp) {
        if (attempt.getAsBoolean()) {
            return;
        }
        LogRole role = loop.log().status().role();
        if (role == LogRole.CLOSED || role == LogRole.FAILED) {
            connection.close("the log takes no more");
            givenUp.run();
            return;
        }
        waiting++;
        loop.retryLater(() -> {
            if (connection.isGone()) {
                givenUp.run();
                return;
            }
            waiting--;
            offer(attempt, givenUp);
            connection.resume();
        });
    }
}
