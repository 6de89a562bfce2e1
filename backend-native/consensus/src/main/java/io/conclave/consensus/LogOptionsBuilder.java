package io.conclave.consensus;

import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.EntryCodec;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Sets what of {@link LogOptions} differs from the defaults, and checks that sizes fit each other. Not thread-safe. */
public final class LogOptionsBuilder implements Cloneable {
    private static final int MB = LogOptions.MB;

    /**
     * The longest message between members is 256 MB; a batch goes in one, and proposals are forwarded in twice as much.
     */
    private static final int LARGEST_BATCH_BYTES = 64 * MB;

    final LongSupplier wallClockMs;
    final LongSupplier monotonicMs;
    final Executor background;
    final DelayedRunner delayed;
    final FatalHandler fatal;
    Executor segmentWork;
    Executor lookups;
    Supplier<UUID> clusterIds = UUID::randomUUID;
    boolean bootstrap = true;
    int memberId = 1;
    LongSupplier directoryIds = new SecureRandom()::nextLong;
    Map<Integer, EnsembleMember> members = Map.of();
    Optional<InetSocketAddress> peerListen = Optional.empty();
    Map<Integer, InetSocketAddress> dialInstead = Map.of();
    PeerTls peerTls = PeerTls.NONE;
    JoinTokens joinTokens = JoinTokens.NONE;
    Supplier<PeerSecrets> peerSecrets = () -> PeerSecrets.NONE;
    long heartbeatMs = 200;
    long electionTimeoutMs = 1_000;
    long stopServingAfterMs = 5_000;
    int featureLevel = 1;
    int maxEntryBytes = 3 * MB / 2;
    int maxBatchBytes = 4 * MB;
    int maxQueuedEntries = 100_000;
    long maxQueuedBytes = 64 * MB;
    int segmentBytes = 64 * MB;
    long snapshotEveryEntries = 1_000_000;
    double snapshotSpread = 0.5;
    int snapshotsKept = 3;
    long windowBytes = 64L * MB;
    long snapshotCheckEveryMs = 3_600_000;

    LogOptionsBuilder(
            LongSupplier wallClockMs,
            LongSupplier monotonicMs,
            Executor background,
            DelayedRunner delayed,
            FatalHandler fatal) {
        this.wallClockMs = wallClockMs;
        this.monotonicMs = monotonicMs;
        this.background = background;
        this.segmentWork = background;
        this.lookups = background;
        this.delayed = delayed;
        this.fatal = fatal;
    }

    /** As it is now. */
    LogOptionsBuilder copy() {
        try {
            return (LogOptionsBuilder) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Makes the next segment of the log; the executor of the background by default. One of its own keeps the log
     * from waiting for a long snapshot. Must outlive the log.
     */
    public LogOptionsBuilder segmentWork(Executor value) {
        segmentWork = value;
        return this;
    }

    /**
     * Looks host names of other members up, one task at a time for each member; the executor of the background by
     * default. A look-up may hang for a minute, so it should have threads of its own.
     */
    public LogOptionsBuilder lookups(Executor value) {
        lookups = value;
        return this;
    }

    /** Where the id of a new cluster comes from; random by default. */
    public LogOptionsBuilder clusterIds(Supplier<UUID> value) {
        clusterIds = value;
        return this;
    }

    /** Where the id of a new directory comes from; securely random by default. */
    public LogOptionsBuilder directoryIds(LongSupplier value) {
        directoryIds = value;
        return this;
    }

    /** Whether an empty directory becomes a new cluster by itself (default), or waits to be taken in by one. */
    public LogOptionsBuilder bootstrap(boolean value) {
        bootstrap = value;
        return this;
    }

    /** This member's number in the cluster, written at bootstrap and checked at every start. */
    public LogOptionsBuilder memberId(int value) {
        memberId = value;
        return this;
    }

    /**
     * The members as the operator lists them (server.N), this one included. The leader takes in those that the
     * cluster does not know yet; for the others the cluster's own configuration counts. None by default: the log
     * is alone.
     */
    public LogOptionsBuilder members(Map<Integer, EnsembleMember> value) {
        members = Map.copyOf(value);
        return this;
    }

    /** Where to listen for the other members, if not at the host and port by which this member is listed. */
    public LogOptionsBuilder peerListen(InetSocketAddress value) {
        peerListen = Optional.of(value);
        return this;
    }

    /** Addresses to dial in place of the members' own, by member id: for proxies between members. */
    public LogOptionsBuilder dialInstead(Map<Integer, InetSocketAddress> value) {
        dialInstead = Map.copyOf(value);
        return this;
    }

    /**
     * The cluster's secrets, which members prove to each other that they have; none by default. Asked at each
     * handshake; must not block.
     */
    public LogOptionsBuilder peerSecrets(Supplier<PeerSecrets> value) {
        peerSecrets = value;
        return this;
    }

    /** Whether members speak TLS; they do not by default. */
    public LogOptionsBuilder peerTls(PeerTls value) {
        peerTls = value;
        return this;
    }

    /** For what this member gives the secret to a server that has none; for nothing by default. */
    public LogOptionsBuilder joinTokens(JoinTokens value) {
        joinTokens = value;
        return this;
    }

    /** How often a leader with nothing to say says so; 200 ms by default. */
    public LogOptionsBuilder heartbeatMs(long value) {
        heartbeatMs = value;
        return this;
    }

    /** A leader that is silent for this long, to twice as long, is suspected; 1,000 ms by default. */
    public LogOptionsBuilder electionTimeoutMs(long value) {
        electionTimeoutMs = value;
        return this;
    }

    /**
     * Clients are not served any more when there was no leader, or no majority, for so long; 5,000 ms by default.
     */
    public LogOptionsBuilder stopServingAfterMs(long value) {
        stopServingAfterMs = value;
        return this;
    }

    /** The highest feature level this software understands; a new cluster starts with it. */
    public LogOptionsBuilder featureLevel(int value) {
        featureLevel = value;
        return this;
    }

    /** Largest payload of one proposal; 1.5 MB by default. */
    public LogOptionsBuilder maxEntryBytes(int value) {
        maxEntryBytes = value;
        return this;
    }

    /** Most bytes gathered into one synced write; 4 MB by default, 64 MB at most. */
    public LogOptionsBuilder maxBatchBytes(int value) {
        maxBatchBytes = value;
        return this;
    }

    /** Most proposals waiting in the queue; 100,000 by default. */
    public LogOptionsBuilder maxQueuedEntries(int value) {
        maxQueuedEntries = value;
        return this;
    }

    /** Most payload bytes waiting in the queue; 64 MB by default. */
    public LogOptionsBuilder maxQueuedBytes(long value) {
        maxQueuedBytes = value;
        return this;
    }

    /** Size of a log file, preallocated; 64 MB by default. Must hold a batch of maxBatchBytes. */
    public LogOptionsBuilder segmentBytes(int value) {
        segmentBytes = value;
        return this;
    }

    /**
     * A snapshot is taken after so many entries, or somewhat fewer (see {@link #snapshotSpread}), so that members
     * do not all take theirs at once; a million by default. Of a large state not before an eighth of its size was
     * written.
     */
    public LogOptionsBuilder snapshotEveryEntries(long value) {
        snapshotEveryEntries = value;
        return this;
    }

    /**
     * By which part of its distance a snapshot may be taken earlier, drawn each time; 0.5 by default, 0 for never.
     */
    public LogOptionsBuilder snapshotSpread(double value) {
        snapshotSpread = value;
        return this;
    }

    /** How many snapshots are kept, with the segments that the oldest of them needs; 3 by default. */
    public LogOptionsBuilder snapshotsKept(int value) {
        snapshotsKept = value;
        return this;
    }

    /** Most bytes of the log kept in memory for members that lag; 64 MB by default, which is the most. */
    public LogOptionsBuilder windowBytes(long value) {
        windowBytes = value;
        return this;
    }

    /** How often one of the kept snapshots, each in its turn, is read through and checked; an hour by default. */
    public LogOptionsBuilder snapshotCheckEveryMs(long value) {
        snapshotCheckEveryMs = value;
        return this;
    }

    /**
     * The options.
     *
     * @throws IllegalArgumentException if sizes do not fit each other
     */
    public LogOptions build() {
        require(maxEntryBytes > 0, "maxEntryBytes " + maxEntryBytes + " must be positive");
        require(
                maxBatchBytes >= maxEntryBytes + EntryCodec.HEADER_BYTES,
                "maxBatchBytes " + maxBatchBytes + " must hold an entry of maxEntryBytes " + maxEntryBytes
                        + " and its header of " + EntryCodec.HEADER_BYTES);
        require(
                maxBatchBytes <= LARGEST_BATCH_BYTES,
                "maxBatchBytes " + maxBatchBytes + " must be at most " + LARGEST_BATCH_BYTES
                        + ", for it travels in one message");
        require(
                segmentBytes >= (long) maxBatchBytes + LogOptions.SEGMENT_OVERHEAD_BYTES,
                "segmentBytes " + segmentBytes + " must hold a batch of maxBatchBytes " + maxBatchBytes + " and "
                        + LogOptions.SEGMENT_OVERHEAD_BYTES + " bytes more");
        require(segmentBytes % 512 == 0, "segmentBytes " + segmentBytes + " must be a multiple of 512");
        require(memberId >= 1 && memberId <= 255, "memberId " + memberId + " must be 1 to 255");
        require(
                members.isEmpty() || members.containsKey(memberId),
                "members " + members.keySet() + " must have this member, " + memberId);
        require(heartbeatMs >= 1, "heartbeatMs " + heartbeatMs + " must be 1 or more");
        require(
                electionTimeoutMs >= 2 * heartbeatMs,
                "electionTimeoutMs " + electionTimeoutMs + " must be at least twice heartbeatMs " + heartbeatMs);
        require(
                snapshotSpread >= 0 && snapshotSpread < 1,
                "snapshotSpread " + snapshotSpread + " must be 0 or more and less than 1");
        require(windowBytes >= MB, "windowBytes " + windowBytes + " must be " + MB + " or more");
        require(snapshotsKept >= 1, "snapshotsKept " + snapshotsKept + " must be 1 or more");
        require(maxQueuedEntries >= 1, "maxQueuedEntries " + maxQueuedEntries + " must be 1 or more");
        require(
                maxQueuedBytes >= maxEntryBytes,
                "maxQueuedBytes " + maxQueuedBytes + " must hold an entry of maxEntryBytes " + maxEntryBytes);
        return new LogOptions(this);
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
