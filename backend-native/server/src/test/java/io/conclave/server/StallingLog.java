package io.conclave.server;

import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import java.util.Random;
import java.util.concurrent.CompletionStage;

/** A log whose queue is full most of the time. */
final class StallingLog implements ReplicatedLog {
    private final ReplicatedLog log;
    private final Random random;

    StallingLog(ReplicatedLog log, long seed) {
        this.log = log;
        this.random = new Random(seed);
    }

    private boolean isFull() {
        synchronized (random) {
            return random.nextInt(4) != 0;
        }
    }

    @Override
    public void start(StateMachine machine, LogListener listener) {
        log.start(machine, listener);
    }

    @Override
    public boolean propose(Proposal proposal) {
        return !isFull() && log.propose(proposal);
    }

    @Override
    public boolean readBarrier(Runnable action) {
        return !isFull() && log.readBarrier(action);
    }

    @Override
    public boolean readIndex(byte[] note, Runnable action) {
        return !isFull() && log.readIndex(note, action);
    }

    @Override
    public void tell(int member, byte[] note) {
        log.tell(member, note);
    }

    @Override
    public CompletionStage<Long> change(MembershipChange change, long knownIndex) {
        return log.change(change, knownIndex);
    }

    @Override
    public CompletionStage<Void> transferLeadership(int member) {
        return log.transferLeadership(member);
    }

    @Override
    public LogStatus status() {
        return log.status();
    }

    @Override
    public void execute(Runnable action) {
        log.execute(action);
    }

    @Override
    public void close() {
        log.close();
    }
}
