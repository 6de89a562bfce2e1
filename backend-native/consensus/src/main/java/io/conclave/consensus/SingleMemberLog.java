package io.conclave.consensus;

import io.conclave.consensus.disk.Disk;

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
        return new SingleMemberLog(new LogLoop(options, queue -> new FileStore(disk, options, queue::control)));
    }

    @Override
    public void start(StateMachine machine) {
        loop.start(machine);
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
    public LogStatus status() {
        return loop.status();
    }

    @Override
    public void close() {
        loop.close();
    }
}
