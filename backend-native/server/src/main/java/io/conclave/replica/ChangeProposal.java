package io.conclave.replica;

import io.conclave.consensus.Proposal;
import io.conclave.tree.Change;
import io.conclave.tree.ChangeCodec;

/** A change on its way through the log. On the member that proposed it, it comes back as {@link Step#origin()}. */
public abstract class ChangeProposal implements Proposal {
    private final Change change;

    protected ChangeProposal(Change change) {
        this.change = change;
    }

    /** What is proposed. */
    public final Change change() {
        return change;
    }

    @Override
    public final byte[] payload() {
        return ChangeCodec.encode(change);
    }
}
