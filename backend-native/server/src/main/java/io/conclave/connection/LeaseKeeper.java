package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/**
 * Keeps the session of a connection from which nothing is read for a while, because its next request waits for room
 * among those of others: its pings wait in the socket, so the session would expire though its client is there. Belongs
 * to the connection's loop.
 */
final class LeaseKeeper {
    /** Tries in the time of a session that its client may be silent. */
    private static final int TOUCHES = 3;

    private final TimeSource time;
    private final Executor loop;
    private final BooleanSupplier waits;
    private final BooleanSupplier touch;
    private boolean keeping;

    /**
     * Keeps nothing yet.
     *
     * @param waits whether the connection is there and its request still waits
     * @param touch touches the lease; false if that was too late, and then the connection has been closed
     */
    LeaseKeeper(TimeSource time, Executor loop, BooleanSupplier waits, BooleanSupplier touch) {
        this.time = time;
        this.loop = loop;
        this.waits = waits;
        this.touch = touch;
    }

    /** A request begins to wait. */
    void keep(int sessionTimeoutMs) {
        if (!keeping) {
            goOn(Duration.ofMillis(Math.max(1, sessionTimeoutMs / TOUCHES)));
        }
    }

    private void goOn(Duration pause) {
        keeping = waits.getAsBoolean() && touch.getAsBoolean();
        if (keeping) {
            time.schedule(pause, () -> loop.execute(() -> goOn(pause)));
        }
    }
}
