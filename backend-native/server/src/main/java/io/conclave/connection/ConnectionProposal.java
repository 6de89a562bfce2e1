package io.conclave.connection;

import io.conclave.consensus.Rejection;
import io.conclave.replica.ChangeProposal;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;

/** A change that a connection asked for; its outcome is told on the connection's loop. */
abstract class ConnectionProposal extends ChangeProposal {
    private final ClientConnection connection;

    ConnectionProposal(ClientConnection connection, Change change) {
        super(change);
        this.connection = connection;
    }

    final ClientConnection connection() {
        return connection;
    }

    final Loop loop() {
        return connection.loop();
    }

    /** The change has been applied, and is about to be shown: the loop's state is still the one before it. On the loop. */
    void beforeApplied() {}

    /** The change was applied; the loop's state is the one right after it. On the loop. */
    abstract void applied(Applied applied);

    /** Nobody will ever know whether the change was applied. On the loop. */
    void outcomeLost() {
        connection.close("what became of its request cannot be known: a snapshot came instead");
    }

    /** The log gave the change up; it is not applied and never will be. On the loop. */
    abstract void refused(Rejection reason);

    @Override
    public final void rejected(Rejection reason) {
        loop().postBehindSteps(() -> refused(reason));
    }

    @Override
    public final void outcomeUnknown() {
        loop().postBehindSteps(this::outcomeLost);
    }
}
