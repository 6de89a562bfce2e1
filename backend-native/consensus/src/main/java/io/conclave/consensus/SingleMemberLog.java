package io.conclave.consensus;

import io.conclave.consensus.disk.Disk;

/** A durable log whose cluster has one member: a batch is committed when it is synced. */
public final class SingleMemberLog implements ReplicatedLog {
    private SingleMemberLog() {}

    /** A log in the given directory; nothing is touched before {@link #start}. */
    public static SingleMemberLog on(Disk disk, LogOptions options) {
        return new SingleMemberLog();
    }

    @Override
    public void start(StateMachine machine) {}

    @Override
    public boolean propose(Proposal proposal) {
        return false;
    }

    @Override
    public boolean readBarrier(Runnable action) {
        return false;
    }

    @Override
    public LogStatus status() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
}
