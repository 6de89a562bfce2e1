package io.conclave.consensus;

import io.conclave.consensus.entry.EnsembleMember;
import java.net.InetSocketAddress;
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
    static final int KB = 1024;
    static final int MB = 1024 * KB;

    /** What a segment needs beside batches: headers, padding, and a reserve. */
    static final int SEGMENT_OVERHEAD_BYTES = 16 * KB;

    private static final int LARGE_ENTRY_BYTES = 64 * KB;
    private static final int LARGEST_GROUP_BYTES = MB;

    private final LogOptionsBuilder from;

    LogOptions(LogOptionsBuilder from) {
        this.from = from.copy();
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
    public static LogOptionsBuilder builder(
            LongSupplier wallClockMs,
            LongSupplier monotonicMs,
            Executor background,
            DelayedRunner delayed,
            FatalHandler fatal) {
        return new LogOptionsBuilder(wallClockMs, monotonicMs, background, delayed, fatal);
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

    /** Makes the log's one thread: a daemon. */
    public ThreadFactory threadFactory() {
        return work -> {
            Thread thread = new Thread(work, "conclave-log");
            thread.setDaemon(true);
            return thread;
        };
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

    /**
     * From so many bytes on an entry is large: it is proposed with other large ones only, when small ones have gone.
     */
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

    /** A snapshot is taken after so many bytes of log, or as many as the last one has if that is more, or fewer. */
    public long snapshotEveryBytes() {
        return 512L * MB;
    }

    public double snapshotSpread() {
        return from.snapshotSpread;
    }

    public int snapshotsKept() {
        return from.snapshotsKept;
    }

    /** How often a full disk is tried again. */
    public long diskRetryMs() {
        return 1_000;
    }

    public long windowBytes() {
        return from.windowBytes;
    }

    public long snapshotCheckEveryMs() {
        return from.snapshotCheckEveryMs;
    }
}
