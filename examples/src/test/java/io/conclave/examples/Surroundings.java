package io.conclave.examples;

import io.conclave.commit.Participant;
import io.conclave.commit.TransactionPart;
import io.conclave.commit.Vote;
import io.conclave.coordinator.Coordinator;
import io.conclave.grant.FencingToken;
import io.conclave.guards.JdbcGuard;
import io.conclave.locks.DistributedLock;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Collections;
import java.util.Iterator;
import java.util.UUID;

/** What the shorter examples of the documents take for granted: each of them is the body of a method of a subclass. */
public abstract class Surroundings {
    /** What an example does while it holds something. */
    protected interface Billing {
        void run(FencingToken token) throws Exception;
    }

    protected Coordinator coordinator;
    protected DistributedLock lock;
    protected Connection connection;
    protected Billing billing = token -> {};
    protected Participant participant = new ReadyParticipant();
    protected Iterator<Runnable> steps = Collections.emptyIterator();
    protected byte[] data = {1, 2, 3};
    protected byte[] order = {4, 5, 6};

    /** The example. */
    public abstract void example() throws Exception;

    protected void work(String what) throws InterruptedException {}

    /** Gives the example a store and a database of its own. */
    void begin() throws SQLException {
        coordinator = Coordinator.connect("memory:" + UUID.randomUUID());
        lock = DistributedLock.at(coordinator, "/locks/orders");
        connection = DriverManager.getConnection("jdbc:h2:mem:" + UUID.randomUUID());
        JdbcGuard.create().createTable(connection);
    }

    void end() throws SQLException {
        coordinator.close();
        connection.close();
    }

    /** A site that can do whatever it is asked. */
    static final class ReadyParticipant implements Participant {
        @Override
        public Vote prepare(TransactionPart transaction) {
            return Vote.COMMIT;
        }

        @Override
        public void commit(TransactionPart transaction) {}

        @Override
        public void abort(TransactionPart transaction) {}
    }
}
