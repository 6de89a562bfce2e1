package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds clients to their {@link ClientLimits}: counts what is refused, and logs a line for each limit now and then,
 * since a flood must not fill the disk that the log needs. Thread-safe.
 */
public final class LimitGuard {
    private static final Logger LOG = LoggerFactory.getLogger(LimitGuard.class);

    private final ClientLimits limits;
    private final Map<ClientLimit, Counted> counts = new EnumMap<>(ClientLimit.class); // not changed once made

    /** What the watches of all connections take. */
    private final AtomicLong watchBytes = new AtomicLong();

    /** What all clients have yet to read. */
    private final AtomicLong unreadBytes = new AtomicLong();

    private final AtomicLong bytesInFlight = new AtomicLong();

    private final QuotaMeter quotas;
    private final CountBudget quotaCounts;
    private final Refusals credentials;
    private final Refusals clientsAhead;
    private final Refusals connections;
    private final Refusals halfOpen;
    private final Refusals late;

    private final LineLimit failures;

    /** Of one limit: how often it was met, and what of that is logged. */
    private record Counted(AtomicLong count, LineLimit lines) {}

    /** A guard that has refused nothing yet. */
    public LimitGuard(ClientLimits limits, TimeSource time) {
        this.limits = limits;
        this.quotas = new QuotaMeter(time);
        this.quotaCounts = new CountBudget(time, limits.most(ClientLimit.QUOTA_COUNTS));
        this.credentials = Refusals.ofCredentials(time);
        this.clientsAhead = Refusals.ofClientsAhead(time);
        this.connections = Refusals.ofConnections(time);
        this.halfOpen = Refusals.ofHalfOpen(time);
        this.late = Refusals.ofLate(time);
        this.failures = new LineLimit(time, 3);
        for (ClientLimit limit : ClientLimit.values()) {
            counts.put(limit, new Counted(new AtomicLong(), new LineLimit(time, 1)));
        }
    }

    private Counted of(ClientLimit limit) {
        return Objects.requireNonNull(counts.get(limit));
    }

    /** The limits. */
    public ClientLimits limits() {
        return limits;
    }

    /** The writes that go beyond quotas of subtrees. */
    public QuotaMeter quotas() {
        return quotas;
    }

    /** What is left to count for new quotas. */
    CountBudget quotaCounts() {
        return quotaCounts;
    }

    /** Clients that have seen more than this server; any stranger can say so. */
    public Refusals clientsAhead() {
        return clientsAhead;
    }

    /** Connections beyond those that an address, its network, or all may have. */
    public Refusals connections() {
        return connections;
    }

    /** Connections without a complete handshake of TLS that newer ones have pushed out. */
    public Refusals halfOpen() {
        return halfOpen;
    }

    /** Connections that had not said in time which session they want. */
    public Refusals late() {
        return late;
    }

    /** Credentials that proved nothing. */
    public Refusals credentials() {
        return credentials;
    }

    /** How often something was refused, or had to wait, because of the limit. */
    public long count(ClientLimit limit) {
        return of(limit).count.get();
    }

    /** What the watches of this server take, in bytes of memory. */
    public long watchBytes() {
        return watchBytes.get();
    }

    /** Of all requests that wait for their answers. */
    public long bytesInFlight() {
        return bytesInFlight.get();
    }

    /** What all clients have yet to read. */
    public long unreadBytes() {
        return unreadBytes.get();
    }

    void unread(long moreBytes) {
        unreadBytes.addAndGet(moreBytes);
    }

    void inFlight(long moreBytes) {
        bytesInFlight.addAndGet(moreBytes);
    }

    /** Something waits because of the limit, and is not refused: counted, and not logged. */
    void held(ClientLimit limit) {
        of(limit).count.incrementAndGet();
    }

    void watching(long moreBytes) {
        watchBytes.addAndGet(moreBytes);
    }

    boolean allows(ClientLimit limit, long value) {
        return value <= limits.most(limit);
    }

    /**
     * Counts a refusal, and logs it unless there was a line of this limit a moment ago.
     *
     * @param what is refused, to whom, and what there is too much of: "a watch of connection 1: its watches take 7
     *     bytes"
     * @return whether it got a line
     */
    boolean refused(ClientLimit limit, String what) {
        Counted counted = of(limit);
        counted.count.incrementAndGet();
        OptionalLong others = counted.lines.next();
        others.ifPresent(unlogged -> LOG.warn(
                "Refused {}, and {} allows {}; {} others were refused for the same reason since the last such line,"
                        + " {} s apart at least",
                what,
                limit.key(),
                limits.most(limit),
                unlogged,
                LineLimit.INTERVAL.toSeconds()));
        return others.isPresent();
    }

    /** An error of this server. The client that met it may do so again and again: few are logged, with their stacks. */
    void failed(Object connection, Throwable cause) {
        failures.next()
                .ifPresent(unlogged -> LOG.error(
                        "Connection {} ends by an error of this server; {} others did since the last such line",
                        connection,
                        unlogged,
                        cause));
    }
}
