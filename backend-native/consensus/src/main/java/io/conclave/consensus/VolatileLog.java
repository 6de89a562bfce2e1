package io.conclave.consensus;

import io.conclave.consensus.store.MemoryStore;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A log in memory only, with the contract of the durable one: each start is the birth of a new cluster. */
public final class VolatileLog implements ReplicatedLog {
    private final LogLoop loop;

    private VolatileLog(LogLoop loop) {
        this.loop = loop;
    }

    /** A log that forgets everything when it is closed; of the options only the clock, the bounds and the thread count. */
    public static VolatileLog with(LogOptions options) {
        return new VolatileLog(new LogLoop(
                options,
                queue -> new StoreAdapter(options.memberId(), () -> new MemoryStore(options, queue::control))));
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
