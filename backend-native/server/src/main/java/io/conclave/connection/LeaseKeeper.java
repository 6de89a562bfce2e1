package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/**
 * Keeps the session of a connection from which the server reads nothing for a while, for a reason of its own: the
 * client's pings wait in the socket, so the session would expire though its client is there. Belongs to the
 * connection's loop.
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
     * @param waits whether the connection is there and still held up
     * @param touch touches the lease; false if the session ends, which the connection hears in its turn
     */
    LeaseKeeper(TimeSource time, Executor loop, BooleanSupplier waits, BooleanSupplier touch) {
        this.time = time;
        this.loop = loop;
        this.waits = waits;
        this.touch = touch;
    }

    /** The connection is held up. */
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
