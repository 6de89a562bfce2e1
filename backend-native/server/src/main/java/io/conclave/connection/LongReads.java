package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The requests of one connection that take long, one at a time. Belongs to the connection's loop. */
final class LongReads {
    private static final Logger LOG = LoggerFactory.getLogger(LongReads.class);
    private static final Duration BETWEEN_TURNS = Duration.ofMillis(1);

    private final ClientConnection connection;
    private final RequestPipeline pipeline;
    private final TimeSource time;
    private boolean underWay;

    LongReads(ClientConnection connection, RequestPipeline pipeline, TimeSource time) {
        this.connection = connection;
        this.pipeline = pipeline;
        this.time = time;
    }

    /** Until that is over, nothing else is read from the connection. */
    boolean isUnderWay() {
        return underWay;
    }

    /**
     * A request that is done part by part; others have their turn in between. Nothing is read from the connection until
     * it is done, so nothing ever waits behind it.
     */
    abstract static class LongRead implements PendingAnswer {
        final int xid;
        private final LongReads reads;

        LongRead(LongReads reads, int xid) {
            this.reads = reads;
            this.xid = xid;
            reads.underWay = true;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void answer() {
            ClientConnection connection = reads.connection;
            if (connection.isGone()) {
                return;
            }
            boolean isDone = advance();
            reads.pipeline.partlyDone(!isDone);
            if (!isDone) {
                reads.time.schedule(BETWEEN_TURNS, () -> connection.loop().post(this::goOn));
                return;
            }
            reads.underWay = false;
            reads.pipeline.handled();
            finish();
            connection.resume();
        }

        private void goOn() {
            try {
                answer();
            } catch (RuntimeException | Error e) {
                LOG.error("A request of {} cannot go on", reads.connection, e);
                reads.connection.close("an error of the server");
            }
        }

        /** Does some more; whether all is done. */
        abstract boolean advance();

        abstract void finish();
    }

    /** Answers from the state that the loop showed when its turn came; events of later changes go out behind it. */
    abstract static class LongReadOfState extends LongRead {
        final ClientConnection connection;
        private boolean begun;

        LongReadOfState(ClientConnection connection, LongReads reads, int xid) {
            super(reads, xid);
            this.connection = connection;
        }

        @Override
        final boolean advance() {
            if (!begun) {
                begun = true;
                connection.holdEvents();
            }
            return advanceHeld();
        }

        @Override
        final void finish() {
            reply();
            connection.releaseEvents();
        }

        abstract boolean advanceHeld();

        abstract void reply();
    }
}
