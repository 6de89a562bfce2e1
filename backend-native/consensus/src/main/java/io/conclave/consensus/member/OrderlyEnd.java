package io.conclave.consensus.member;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.CoreRole;
import io.conclave.consensus.store.LogStore;

/** Says when a member that is to close may: what was queued is applied, and leadership transferred; or time is up. */
final class OrderlyEnd {
    private static final int PATIENCE_ELECTION_TIMEOUTS = 3;

    private final LogOptions options;
    private final LogStore store;
    private final ProposalQueue queue;
    private final OwnProposals own;
    private final PendingReads reads;
    private final Intake intake;
    private final Core core;
    private final LeadershipTransfer transfer;
    private long deadlineMs = Long.MAX_VALUE;

    OrderlyEnd(
            LogOptions options,
            LogStore store,
            ProposalQueue queue,
            OwnProposals own,
            PendingReads reads,
            Intake intake,
            Core core,
            LeadershipTransfer transfer) {
        this.options = options;
        this.store = store;
        this.queue = queue;
        this.own = own;
        this.reads = reads;
        this.intake = intake;
        this.core = core;
        this.transfer = transfer;
    }

    /**
     * Asked in each turn from the first one on in which the member is to close.
     *
     * @param alone the member is its own majority
     */
    boolean isReached(long nowMs, boolean alone, boolean suspended) {
        boolean mayWaitForever = alone && !suspended && store.diskState() != DiskState.FULL;
        if (deadlineMs == Long.MAX_VALUE && !mayWaitForever) {
            deadlineMs = nowMs + PATIENCE_ELECTION_TIMEOUTS * options.electionTimeoutMs();
        }
        if (nowMs >= deadlineMs) {
            return true;
        }
        if (queue.peek() != null || !own.isEmpty() || !reads.isEmpty() || intake.isHolding()) {
            return false;
        }
        if (core.role() == CoreRole.LEADER && !alone) {
            transfer.beginBeforeEnd(core, nowMs);
        }
        return !transfer.isRunning();
    }

    /** When time is up; nothing is waited for then. */
    long deadlineMs() {
        return deadlineMs;
    }
}
