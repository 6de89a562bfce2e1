package io.conclave.consensus;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.store.FileStore;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A durable log whose cluster has one member: a batch is committed when it is synced. Snapshots, purge and recovery
 * included.
 */
public final class SingleMemberLog implements ReplicatedLog {
    private final LogLoop loop;

    private SingleMemberLog(LogLoop loop) {
        this.loop = loop;
    }

    /** A log in the given directory; nothing is touched before {@link #start}. */
    public static SingleMemberLog on(Disk disk, LogOptions options) {
        return new SingleMemberLog(new LogLoop(
                options,
                queue -> new StoreAdapter(options.memberId(), () -> FileStore.open(disk, options, queue::control))));
    }

    @Override
    public void start(StateMachine machine, LogListener listener) {
        loop.start(machine, listener);
    }

    @Override
    public boolean propose(Proposal proposal) {
        return loop.propose(proposal);
    }

    @Override
    public boolean readBarrier(Runnable action) {
        return loop.readBarrier(action);
    }

    @Override
    public boolean confirm(byte[] note, Runnable action) {
        return loop.confirm(note, action);
    }

    @Override
    public CompletionStage<@Nullable Void> change(MembershipChange change) {
        return loop.change(change);
    }

    @Override
    public CompletionStage<@Nullable Void> transferLeadership(int member) {
        return loop.transferLeadership(member);
    }

    @Override
    public LogStatus status() {
        return loop.status();
    }

    @Override
    public void close() {
        loop.close();
    }
}
