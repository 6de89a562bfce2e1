package io.conclave.consensus;

import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.EntryCodec;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * How a log is set up. Immutable; {@link #builder} needs what the log must not make itself (clock, executors, what to
 * do when it fails), the rest has defaults.
 */
public final class LogOptions {
    private static final int KB = 1024;
    private static final int MB = 1024 * KB;

    /** What a segment needs beside batches: headers, padding, and a reserve. */
    private static final int SEGMENT_OVERHEAD_BYTES = 16 * KB;

    /**
     * The longest message between members is 256 MB; a batch goes in one, and proposals are forwarded in twice as much.
     */
    private static final int LARGEST_BATCH_BYTES = 64 * MB;

    private static final int LARGE_ENTRY_BYTES = 64 * KB;
    private static final int LARGEST_GROUP_BYTES = MB;

    private final Builder from;

    private LogOptions(Builder from) {
        this.from = new Builder(from);
    }

    /**
     * A builder with the defaults.
     *
     * @param wallClockMs the wall clock in ms since the epoch; may jump; the log's timestamps do not decrease
     * @param monotonicMs milliseconds since an arbitrary moment, which never decrease
     * @param background writes, checks and reads snapshots, and deletes files; must outlive the log
     * @param delayed runs the retry on a full disk
     * @param fatal called when the log cannot go on
     */
    public static Builder builder(
            LongSupplier wallClockMs,
            LongSupplier monotonicMs,
            Executor background,
            DelayedRunner delayed,
            FatalHandler fatal) {
        return new Builder(wallClockMs, monotonicMs, background, delayed, fatal);
    }

    public LongSupplier wallClockMs() {
        return from.wallClockMs;
    }

    public LongSupplier monotonicMs() {
        return from.monotonicMs;
    }

    public Executor background() {
        return from.background;
    }

    public Executor segmentWork() {
        return from.segmentWork;
    }

    public Executor lookups() {
        return from.lookups;
    }

    public DelayedRunner delayed() {
        return from.delayed;
    }

    public FatalHandler fatal() {
        return from.fatal;
    }

    public ThreadFactory threadFactory() {
        return from.threadFactory;
    }

    public Supplier<UUID> clusterIds() {
        return from.clusterIds;
    }

    public LongSupplier directoryIds() {
        return from.directoryIds;
    }

    public boolean bootstrap() {
        return from.bootstrap;
    }

    public int memberId() {
        return from.memberId;
    }

    /** Where the other members reach this one, if it is not the listed address. */
    public Optional<InetSocketAddress> peerListen() {
        return from.peerListen;
    }

    /** Addresses to dial in place of the members' own. */
    public Map<Integer, InetSocketAddress> dialInstead() {
        return from.dialInstead;
    }

    /** The configured members, this one included; empty for a log that is to stay alone. */
    public Map<Integer, EnsembleMember> members() {
        return from.members;
    }

    /** What the members prove to each other, now; they may be replaced. */
    public Supplier<PeerSecrets> peerSecrets() {
        return from.peerSecrets;
    }

    /** Whether members speak TLS. */
    public PeerTls peerTls() {
        return from.peerTls;
    }

    /** For what this member gives the secret to a server that has none. */
    public JoinTokens joinTokens() {
        return from.joinTokens;
    }

    public long heartbeatMs() {
        return from.heartbeatMs;
    }

    public long electionTimeoutMs() {
        return from.electionTimeoutMs;
    }

    public long stopServingAfterMs() {
        return from.stopServingAfterMs;
    }

    public int featureLevel() {
        return from.featureLevel;
    }

    /** Largest payload of one proposal, in bytes. */
    public int maxEntryBytes() {
        return from.maxEntryBytes;
    }

    /** From so many bytes on an entry is large: it is proposed with other large ones only, when small ones have gone. */
    public int largeEntryBytes() {
        return Math.min(LARGE_ENTRY_BYTES, Math.max(KB, from.maxEntryBytes / 8));
    }

    /** Large entries that are together no longer than this go with one write; a longer one goes alone. */
    public int largeGroupBytes() {
        return Math.min(LARGEST_GROUP_BYTES, from.maxEntryBytes);
    }

    public int maxBatchBytes() {
        return from.maxBatchBytes;
    }

    public int maxQueuedEntries() {
        return from.maxQueuedEntries;
    }

    public long maxQueuedBytes() {
        return from.maxQueuedBytes;
    }

    public int segmentBytes() {
        return from.segmentBytes;
    }

    public int firstSegmentBytes() {
        return Math.min(from.segmentBytes, Math.max(8 * MB, (from.maxBatchBytes + SEGMENT_OVERHEAD_BYTES) / 512 * 512));
    }

    public long snapshotEveryEntries() {
        return from.snapshotEveryEntries;
    }

    public long snapshotEveryBytes() {
        return from.snapshotEveryBytes;
    }

    public double snapshotSpread() {
        return from.snapshotSpread;
    }

    public int snapshotsKept() {
        return from.snapshotsKept;
    }

    public long diskRetryMs() {
        return from.diskRetryMs;
    }

    public long windowBytes() {
        return from.windowBytes;
    }

    public long snapshotCheckEveryMs() {
        return from.snapshotCheckEveryMs;
    }

    /** Sets what differs from the defaults. Not thread-safe. */
    public static final class Builder {
        private final LongSupplier wallClockMs;
        private final LongSupplier monotonicMs;
        private final Executor background;
        private final DelayedRunner delayed;
        private final FatalHandler fatal;
        private Executor segmentWork;
        private Executor lookups;
        private ThreadFactory threadFactory = Builder::daemon;
        private Supplier<UUID> clusterIds = UUID::randomUUID;
        private boolean bootstrap = true;
        private int memberId = 1;
        private LongSupplier directoryIds = new SecureRandom()::nextLong;
        private Map<Integer, EnsembleMember> members = Map.of();
        private Optional<InetSocketAddress> peerListen = Optional.empty();
        private Map<Integer, InetSocketAddress> dialInstead = Map.of();
        private PeerTls peerTls = PeerTls.NONE;
        private JoinTokens joinTokens = JoinTokens.NONE;
        private Supplier<PeerSecrets> peerSecrets = () -> PeerSecrets.NONE;
        private long heartbeatMs = 200;
        private long electionTimeoutMs = 1_000;
        private long stopServingAfterMs = 5_000;
        private int featureLevel = 1;
        private int maxEntryBytes = 3 * MB / 2;
        private int maxBatchBytes = 4 * MB;
        private int maxQueuedEntries = 100_000;
        private long maxQueuedBytes = 64 * MB;
        private int segmentBytes = 64 * MB;
        private long snapshotEveryEntries = 1_000_000;
        private long snapshotEveryBytes = 512L * MB;
        private double snapshotSpread = 0.5;
        private int snapshotsKept = 3;
        private long diskRetryMs = 1_000;
        private long windowBytes = 64L * MB;
        private long snapshotCheckEveryMs = 3_600_000;

        private Builder(
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

        private Builder(Builder other) {
            this(other.wallClockMs, other.monotonicMs, other.background, other.delayed, other.fatal);
            segmentWork = other.segmentWork;
            lookups = other.lookups;
            threadFactory = other.threadFactory;
            clusterIds = other.clusterIds;
            bootstrap = other.bootstrap;
            memberId = other.memberId;
            directoryIds = other.directoryIds;
            members = other.members;
            peerListen = other.peerListen;
            dialInstead = other.dialInstead;
            peerSecrets = other.peerSecrets;
            joinTokens = other.joinTokens;
            peerTls = other.peerTls;
            heartbeatMs = other.heartbeatMs;
            electionTimeoutMs = other.electionTimeoutMs;
            stopServingAfterMs = other.stopServingAfterMs;
            featureLevel = other.featureLevel;
            maxEntryBytes = other.maxEntryBytes;
            maxBatchBytes = other.maxBatchBytes;
            maxQueuedEntries = other.maxQueuedEntries;
            maxQueuedBytes = other.maxQueuedBytes;
            segmentBytes = other.segmentBytes;
            snapshotEveryEntries = other.snapshotEveryEntries;
            snapshotEveryBytes = other.snapshotEveryBytes;
            snapshotSpread = other.snapshotSpread;
            snapshotsKept = other.snapshotsKept;
            diskRetryMs = other.diskRetryMs;
            windowBytes = other.windowBytes;
            snapshotCheckEveryMs = other.snapshotCheckEveryMs;
        }

        private static Thread daemon(Runnable work) {
            Thread thread = new Thread(work, "conclave-log");
            thread.setDaemon(true);
            return thread;
        }

        /**
         * Makes the next segment of the log; the executor of the background by default. One of its own keeps the log
         * from waiting for a long snapshot. Must outlive the log.
         */
        public Builder segmentWork(Executor value) {
            segmentWork = value;
            return this;
        }

        /**
         * Looks host names of other members up, one task at a time for each member; the executor of the background by
         * default. A look-up may hang for a minute, so it should have threads of its own.
         */
        public Builder lookups(Executor value) {
            lookups = value;
            return this;
        }

        /** Makes the log's one thread; a daemon called conclave-log by default. */
        public Builder threadFactory(ThreadFactory value) {
            threadFactory = value;
            return this;
        }

        /** Where the id of a new cluster comes from; random by default. */
        public Builder clusterIds(Supplier<UUID> value) {
            clusterIds = value;
            return this;
        }

        /** Where the id of a new directory comes from; securely random by default. */
        public Builder directoryIds(LongSupplier value) {
            directoryIds = value;
            return this;
        }

        /** Whether an empty directory becomes a new cluster by itself (default), or waits to be taken in by one. */
        public Builder bootstrap(boolean value) {
            bootstrap = value;
            return this;
        }

        /** This member's number in the cluster, written at bootstrap and checked at every start. */
        public Builder memberId(int value) {
            memberId = value;
            return this;
        }

        /**
         * The members as the operator lists them (server.N), this one included. The leader takes in those that the
         * cluster does not know yet; for the others the cluster's own configuration counts. None by default: the log
         * is alone.
         */
        public Builder members(Map<Integer, EnsembleMember> value) {
            members = Map.copyOf(value);
            return this;
        }

        /** Where to listen for the other members, if not at the host and port by which this member is listed. */
        public Builder peerListen(InetSocketAddress value) {
            peerListen = Optional.of(value);
            return this;
        }

        /** Addresses to dial in place of the members' own, by member id: for proxies between members. */
        public Builder dialInstead(Map<Integer, InetSocketAddress> value) {
            dialInstead = Map.copyOf(value);
            return this;
        }

        /**
         * The cluster's secrets, which members prove to each other that they have; none by default. Asked at each
         * handshake; must not block.
         */
        public Builder peerSecrets(Supplier<PeerSecrets> value) {
            peerSecrets = value;
            return this;
        }

        /** Whether members speak TLS; they do not by default. */
        public Builder peerTls(PeerTls value) {
            peerTls = value;
            return this;
        }

        /** For what this member gives the secret to a server that has none; for nothing by default. */
        public Builder joinTokens(JoinTokens value) {
            joinTokens = value;
            return this;
        }

        /** How often a leader with nothing to say says so; 200 ms by default. */
        public Builder heartbeatMs(long value) {
            heartbeatMs = value;
            return this;
        }

        /** A leader that is silent for this long, to twice as long, is suspected; 1,000 ms by default. */
        public Builder electionTimeoutMs(long value) {
            electionTimeoutMs = value;
            return this;
        }

        /**
         * Clients are not served any more when there was no leader, or no majority, for so long; 5,000 ms by default.
         */
        public Builder stopServingAfterMs(long value) {
            stopServingAfterMs = value;
            return this;
        }

        /** The highest feature level this software understands; a new cluster starts with it. */
        public Builder featureLevel(int value) {
            featureLevel = value;
            return this;
        }

        /** Largest payload of one proposal; 1.5 MB by default. */
        public Builder maxEntryBytes(int value) {
            maxEntryBytes = value;
            return this;
        }

        /** Most bytes gathered into one synced write; 4 MB by default, 64 MB at most. */
        public Builder maxBatchBytes(int value) {
            maxBatchBytes = value;
            return this;
        }

        /** Most proposals waiting in the queue; 100,000 by default. */
        public Builder maxQueuedEntries(int value) {
            maxQueuedEntries = value;
            return this;
        }

        /** Most payload bytes waiting in the queue; 64 MB by default. */
        public Builder maxQueuedBytes(long value) {
            maxQueuedBytes = value;
            return this;
        }

        /** Size of a log file, preallocated; 64 MB by default. Must hold a batch of maxBatchBytes. */
        public Builder segmentBytes(int value) {
            segmentBytes = value;
            return this;
        }

        /**
         * A snapshot is taken after so many entries, or somewhat fewer (see {@link #snapshotSpread}), so that members
         * do not all take theirs at once; a million by default. Of a large state not before an eighth of its size was
         * written.
         */
        public Builder snapshotEveryEntries(long value) {
            snapshotEveryEntries = value;
            return this;
        }

        /**
         * A snapshot is taken after so many bytes of log, or as many as the last one has if that is more, or
         * somewhat fewer; 512 MB by default.
         */
        public Builder snapshotEveryBytes(long value) {
            snapshotEveryBytes = value;
            return this;
        }

        /**
         * By which part of its distance a snapshot may be taken earlier, drawn each time; 0.5 by default, 0 for never.
         */
        public Builder snapshotSpread(double value) {
            snapshotSpread = value;
            return this;
        }

        /** How many snapshots are kept, with the segments that the oldest of them needs; 3 by default. */
        public Builder snapshotsKept(int value) {
            snapshotsKept = value;
            return this;
        }

        /** Most bytes of the log kept in memory for members that lag; 64 MB by default, which is the most. */
        public Builder windowBytes(long value) {
            windowBytes = value;
            return this;
        }

        /** How often a full disk is tried again; 1,000 ms by default. */
        public Builder diskRetryMs(long value) {
            diskRetryMs = value;
            return this;
        }

        /** How often one of the kept snapshots, each in its turn, is read through and checked; an hour by default. */
        public Builder snapshotCheckEveryMs(long value) {
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
                    segmentBytes >= (long) maxBatchBytes + SEGMENT_OVERHEAD_BYTES,
                    "segmentBytes " + segmentBytes + " must hold a batch of maxBatchBytes " + maxBatchBytes + " and "
                            + SEGMENT_OVERHEAD_BYTES + " bytes more");
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
}
