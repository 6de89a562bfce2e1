package io.conclave.connection;

import io.conclave.consensus.Rejection;
import io.conclave.replica.ChangeProposal;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** A change that a connection asked for; its outcome is reported on the connection's loop. */
abstract class ConnectionProposal extends ChangeProposal {
    private final ClientConnection connection;

    ConnectionProposal(ClientConnection connection, Change change) {
        super(change);
        this.connection = connection;
    }

    /** Where its client is; null inside the JVM. From any thread. */
    final @Nullable InetAddress address() {
        return connection.address();
    }

    final Loop loop() {
        return connection.loop();
    }

    /**
     * The change has been applied, and is about to be shown: the loop's state is still the one before it. On the loop.
     */
    void beforeApplied() {}

    /** The change was applied; the loop's state is the one right after it. On the loop. */
    abstract void applied(Applied applied);

    /** Reports the outcome. One that cannot be reported must not be waited for. On the loop. */
    final void settle(Runnable delivery) {
        try {
            delivery.run();
        } catch (RuntimeException | Error e) {
            connection.fail(e);
        }
    }

    /** Whether the change was applied stays unknown. On the loop. */
    void outcomeLost() {
        connection.close("the outcome of its request is unknown: a snapshot came instead of it");
    }

    /** The connection is gone, or the log is closed, and the log was not given the change. On the loop. */
    void neverProposed() {}

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
