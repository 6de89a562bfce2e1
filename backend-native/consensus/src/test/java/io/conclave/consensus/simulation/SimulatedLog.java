package io.conclave.consensus.simulation;

import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.member.MemberLoop;
import java.util.concurrent.CompletionStage;

/** The log that a member is, as the application on top of it sees it. */
public class SimulatedLog implements ReplicatedLog {
    private final MemberLoop loop;

    public SimulatedLog(MemberLoop loop) {
        this.loop = loop;
    }

    protected SimulatedLog(SimulatedLog other) {
        this(other.loop);
    }

    @Override
    public void start(StateMachine machine, LogListener listener) {
        throw new IllegalStateException("the member is started as a whole");
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
    public boolean readIndex(byte[] note, Runnable action) {
        return loop.readIndex(note, action);
    }

    @Override
    public void tell(int member, byte[] note) {
        loop.tell(member, note);
    }

    @Override
    public CompletionStage<Long> change(MembershipChange change, long knownIndex) {
        return loop.change(change, knownIndex);
    }

    @Override
    public CompletionStage<Void> transferLeadership(int member) {
        return loop.transferLeadership(member);
    }

    @Override
    public LogStatus status() {
        return loop.status();
    }

    @Override
    public void close() {
        loop.beginClosing();
    }
}
