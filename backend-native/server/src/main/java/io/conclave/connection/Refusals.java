package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts how often clients were refused for one kind of reason, and says so in a few lines of the log. Thread-safe. */
public final class Refusals {
    private static final Logger LOG = LoggerFactory.getLogger(Refusals.class);

    private final String what;
    private final LineLimit lines;
    private final AtomicLong count = new AtomicLong();

    private Refusals(String what, LineLimit lines) {
        this.what = what;
        this.lines = lines;
    }

    /** Of connections beyond the limits, of which there can be very many. */
    static Refusals ofConnections(TimeSource time) {
        return new Refusals("Refused a connection from", new LineLimit(time, 1));
    }

    /** Of connections that newer ones have pushed out before they came to TLS. */
    static Refusals ofHalfOpen(TimeSource time) {
        return new Refusals("Closed a connection from", new LineLimit(time, 1));
    }

    /** Of connections that had not said in time which session they want. */
    static Refusals ofLate(TimeSource time) {
        return new Refusals("Closed a connection from", new LineLimit(time, 1));
    }

    /** Of connections that did not come to TLS, or should have: several reasons at a time. */
    static Refusals ofTls(TimeSource time) {
        return new Refusals("Refused a connection from", new LineLimit(time, 10));
    }

    /** Of clients that say that they have seen changes which nobody here knows. */
    static Refusals ofClientsAhead(TimeSource time) {
        return new Refusals("Refused a session of", new LineLimit(time, 3));
    }

    /** Of what clients gave to prove who they are. */
    public static Refusals ofCredentials(TimeSource time) {
        return new Refusals("Rejected the credentials of", new LineLimit(time, 3));
    }

    /**
     * One more.
     *
     * @param reason printable, and without a secret
     * @return whether it got a line
     */
    public boolean add(@Nullable Object client, String reason) {
        count.incrementAndGet();
        OptionalLong others = lines.next();
        others.ifPresent(unlogged -> LOG.warn(
                "{} {}: {}{}",
                what,
                client,
                reason,
                unlogged == 0 ? "" : "; " + unlogged + " others since the last such line"));
        return others.isPresent();
    }

    /** How many there were. */
    public long count() {
        return count.get();
    }
}
