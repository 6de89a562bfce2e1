package io.conclave.simulation;

import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.member.MemberLoop;
import java.util.concurrent.CompletionStage;

/** The log that a member is, for the server on top of it. */
class MemberLog implements ReplicatedLog {
    private final MemberLoop loop;

    MemberLog(MemberLoop loop) {
        this.loop = loop;
    }

    MemberLog(MemberLog other) {
        this(other.loop);
    }

    @Override
    public void start(StateMachine machine, LogListener listener) {
        throw new UnsupportedOperationException("the machine starts the member");
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
    public CompletionStage<Void> change(MembershipChange change) {
        return loop.change(change);
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
