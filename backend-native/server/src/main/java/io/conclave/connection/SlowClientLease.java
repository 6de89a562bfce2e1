package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Keeps the session of a client that is slow to take its answers: the server reads nothing from it meanwhile, so that
 * its pings wait in the socket. What it takes shows that it is there; one that takes nothing expires. Belongs to the
 * connection's loop.
 */
final class SlowClientLease {
    /** Looks in the time of a session that its client may be silent. */
    private static final int LOOKS = 3;

    private final TimeSource time;
    private final Executor loop;
    private final BooleanSupplier waits;
    private final LongSupplier taken;
    private final BooleanSupplier touch;
    private boolean looking;
    private long takenBefore;

    /**
     * Keeps nothing yet.
     *
     * @param waits whether the connection is there, and its client still has answers to take
     * @param taken how many bytes the client has taken
     * @param touch touches the lease; false if the session ends, which the connection hears in its turn
     */
    SlowClientLease(TimeSource time, Executor loop, BooleanSupplier waits, LongSupplier taken, BooleanSupplier touch) {
        this.time = time;
        this.loop = loop;
        this.waits = waits;
        this.taken = taken;
        this.touch = touch;
    }

    /** The client has more answers to take than usual. */
    void keep(int sessionTimeoutMs) {
        if (!looking) {
            looking = true;
            takenBefore = taken.getAsLong();
            lookLater(Duration.ofMillis(Math.max(1, sessionTimeoutMs / LOOKS)));
        }
    }

    private void lookLater(Duration pause) {
        time.schedule(pause, () -> loop.execute(() -> look(pause)));
    }

    private void look(Duration pause) {
        long takenNow = taken.getAsLong();
        boolean takesSome = takenNow > takenBefore;
        takenBefore = takenNow;
        looking = waits.getAsBoolean() && (!takesSome || touch.getAsBoolean());
        if (looking) {
            lookLater(pause);
        }
    }
}
