package io.conclave.consensus;

/** A log in memory only, with the contract of the durable one: each start is the birth of a new cluster. */
public final class VolatileLog implements ReplicatedLog {
    private final LogLoop loop;

    private VolatileLog(LogLoop loop) {
        this.loop = loop;
    }

    /** A log that forgets everything when it is closed; of the options only the clock, the bounds and the thread count. */
    public static VolatileLog with(LogOptions options) {
        return new VolatileLog(new LogLoop(options, queue -> new MemoryStore(options.clusterIds())));
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
