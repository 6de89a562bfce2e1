package io.conclave.consensus.store;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.entry.DiskClaim;
import io.conclave.consensus.entry.LogBatch;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Where one member keeps what it must not forget. All methods are called on the member's thread; an
 * {@link IOException} ends the member. Work in the background reports back through the executor that the store was
 * made with.
 */
public interface LogStore {

    /** Whether the directory belongs to a cluster; if not, only {@link #adopt} and {@link #close} may be called. */
    boolean isMember();

    /**
     * Whether the cluster was bootstrapped in this directory, so that an empty log means a cluster of this one voter;
     * else an empty log means a member without a vote.
     */
    boolean isBootstrappedHere();

    /** The random id of the directory; 0 before it belongs to a cluster. */
    long directory();

    /** Which cluster; all zero before it belongs to one. */
    UUID clusterId();

    /**
     * Makes an empty directory that of a new member of an existing cluster, with an empty log and no vote.
     *
     * @throws DiskFullException if there is no room for that; it may be tried again
     */
    void adopt(UUID clusterId) throws IOException;

    /**
     * Reads everything: the newest snapshot and all committed batches behind it go to the target; what may not be
     * committed is in the answer.
     */
    Recovered recover(RecoveryTarget target) throws IOException;

    /** Makes term and vote durable. */
    void vote(long term, int votedFor) throws IOException;

    /**
     * The member has caught up with what a leader reported as committed: from now on {@link Recovered#cut} is false
     * again. Durable on return, if there was anything to change.
     */
    void caughtUp() throws IOException;

    /**
     * Nothing has been written for a while: leaves a mark of where the log ends, so that what is found torn at the next
     * start is a write of the last moments. Durable on return.
     */
    void markEnd() throws IOException;

    /** What became of an append. */
    enum Appended {
        /** It is durable. */
        DONE,
        /** Nothing was written; try again after the next piece of background work has reported. */
        WAIT,
        /** Nothing was written and there is no room. */
        FULL
    }

    /** Whether a batch with so many payload bytes and entries could be written now; begins to make room if not. */
    Appended roomFor(int entries, long payloadBytes);

    /**
     * Writes batches at the end of the log, with one sync as far as they lie in one segment.
     *
     * @param commitIndex what is known to be committed now, of this log and these batches
     */
    Appended append(List<LogBatch> batches, long commitIndex) throws IOException;

    /**
     * Cuts the log behind an index that is the end of a batch; durable on return. Ended half-way it leaves some of what
     * was to be cut.
     *
     * @throws IllegalStateException if something would be cut that is known to be committed
     */
    void cutAfter(long index) throws IOException;

    /**
     * Everything up to the position is applied: a good moment for a snapshot, which is then taken from the supplier.
     */
    void applied(SnapshotPosition position, Supplier<StateSnapshot> machine);

    /**
     * Has a snapshot made of what {@link #applied} was told last, if none of that is there or being made. Not to be
     * called while more is applied than was reported.
     */
    void snapshotSoon();

    /** Time has passed: now and then one of the kept snapshots is checked in the background. */
    void tick(long nowMs);

    /**
     * A reader could not use the snapshot: it is checked in the background. One that is damaged is set aside, and a new
     * one is made in its place; until that is known it is not opened any more.
     */
    void suspectSnapshot(long lastIndex);

    /** The newest whole snapshot, for sending; null if there is none, or it is suspected. To be closed. */
    @org.jspecify.annotations.Nullable
    StoredSnapshot openNewestSnapshot() throws IOException;

    /**
     * The log behind an index that is the end of a batch; empty if not all of that is kept. To be closed; until then
     * nothing behind the index is purged, unless the disk is full.
     *
     * @param term of the entry at the index, which must be in the log, and be the end of a batch: else reading
     *     fails; 0 for an entry that may be in the snapshot only
     */
    Optional<StoredLog> openLog(long afterIndex, long term);

    /** Whether a snapshot is being written, which holds on to a state of the machine. */
    boolean isWritingSnapshot();

    /** A file for a snapshot that another member sends; one at a time, another one replaces it. */
    IncomingSnapshot receive(long lastIndex, long lastTerm, long length) throws IOException;

    /**
     * The disk was set back to an older state: the next start sets this log aside, as an operator would. Durable on
     * return.
     *
     * @param reason for the operator; it is written to the file that marks the log
     */
    void condemn(String reason) throws IOException;

    /** What another member has claimed of this disk, until {@link #condemn}, or an operator, settles it. */
    Optional<DiskClaim> claim() throws IOException;

    /** Keeps what another member has claimed of this disk. Durable on return. */
    void suspect(DiskClaim claim) throws IOException;

    DiskState diskState();

    /** Ends work in the background; returns whether all of it has ended, else ask again after its next report. */
    boolean stopped();

    /** Gives everything free; {@code clean} if all is well and a mark of the end shall be left. */
    void close(boolean clean) throws IOException;
}
