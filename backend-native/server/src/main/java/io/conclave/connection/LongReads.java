package io.conclave.connection;

import io.conclave.protocol.MalformedFrameException;
import io.conclave.protocol.PathTooLongException;
import io.conclave.protocol.RequestBody;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The requests of one connection that take long, one at a time. Belongs to the connection's loop. */
final class LongReads {
    private final ClientConnection connection;
    private final RequestPipeline pipeline;
    private @Nullable LongRead underWay;

    /** A part is being done, which may end the connection. */
    private boolean working;

    LongReads(ClientConnection connection, RequestPipeline pipeline) {
        this.connection = connection;
        this.pipeline = pipeline;
    }

    /** Until that is over, nothing else is read from the connection. */
    boolean isUnderWay() {
        return underWay != null;
    }

    /** The connection has ended. */
    void abandon() {
        LongRead abandoned = underWay;
        if (abandoned != null && !working) {
            underWay = null;
            abandoned.releaseBody();
            abandoned.release();
        }
    }

    /**
     * A request that is done part by part; others have their turn in between. Nothing is read from the connection until
     * it is done, so nothing ever waits behind it.
     */
    abstract static class LongRead implements PendingAnswer, LongWork.Job {
        final int xid;
        private final LongReads reads;
        private @Nullable LargeBody undecoded;
        private Consumer<RuntimeException> whenMalformed = malformed -> {};

        LongRead(LongReads reads, int xid) {
            this.reads = reads;
            this.xid = xid;
            reads.underWay = this;
        }

        /**
         * Has the request decoded part by part, before the first part of the answer.
         *
         * @param newWhenMalformed answers in its stead if it cannot be decoded
         */
        void decodeFirst(LargeBody body, Consumer<RuntimeException> newWhenMalformed) {
            undecoded = body;
            whenMalformed = newWhenMalformed;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void answer() {
            reads.pipeline.partlyDone(true);
            reads.connection.loop().longWork().add(this);
        }

        @Override
        public boolean advance() {
            ClientConnection connection = reads.connection;
            if (connection.isGone() || !hasRoom()) {
                return true;
            }
            try {
                if (!doPartGuarded()) {
                    return false;
                }
                if (connection.isGone()) {
                    return true;
                }
                end();
                finish();
                connection.resume();
            } catch (MalformedFrameException | PathTooLongException e) {
                end();
                release();
                whenMalformed.accept(e);
                connection.resume();
            } catch (RuntimeException | Error e) {
                connection.fail(e);
            }
            return true;
        }

        private void end() {
            reads.underWay = null;
            releaseBody();
            reads.pipeline.partlyDone(false);
            reads.pipeline.handled();
        }

        private void releaseBody() {
            LargeBody body = undecoded;
            undecoded = null;
            if (body != null) {
                body.release();
            }
        }

        private boolean doPartGuarded() {
            reads.working = true;
            try {
                LargeBody body = undecoded;
                if (body == null) {
                    return doPart();
                }
                if (body.decodePart()) {
                    decoded(body.request());
                    releaseBody();
                }
                return false;
            } finally {
                reads.working = false;
                if (reads.connection.isGone()) {
                    reads.abandon();
                }
            }
        }

        /** What was to be decoded first is. */
        void decoded(RequestBody request) {
            throw new IllegalStateException(this + " decodes nothing");
        }

        /** Whether there is room for the next part; if not, this is added to the long work again when there is. */
        boolean hasRoom() {
            return true;
        }

        /** Gives back what its answer has taken, which will not be sent. */
        void release() {}

        /** Does a part that takes much less than a millisecond; whether that was the last one. */
        abstract boolean doPart();

        abstract void finish();

        @Override
        public String toString() {
            return "Request " + xid + " of " + reads.connection;
        }
    }

    /** Answers from the state that the loop showed when its turn came; events of later changes go out behind it. */
    abstract static class LongReadOfState extends LongRead {
        final ClientConnection connection;
        private final RequestPipeline pipeline;
        private final UnreadBytes.Answer room;

        /** It has had room, and may have been decoded since. */
        private boolean started;

        private @Nullable LongAnswer answer;

        LongReadOfState(ClientConnection connection, LongReads reads, int xid) {
            super(reads, xid);
            this.connection = connection;
            this.pipeline = reads.pipeline;
            this.room = connection.roomForAnswer(this::goOn);
        }

        /** Before it starts it waits without what others may need, which is its room among the large requests. */
        @Override
        final boolean hasRoom() {
            LongAnswer begun = answer;
            if (!started) {
                started = room.goesOn(0);
                if (!started) {
                    pipeline.stepAside();
                }
                return started;
            }
            return begun == null || room.goesOn(begun.bytes());
        }

        private void goOn() {
            if (!started) {
                room.end(); // it asks again when it is back
                pipeline.comeBack(() -> connection.loop().longWork().add(this));
            } else {
                connection.loop().longWork().add(this);
            }
        }

        @Override
        final boolean doPart() {
            LongAnswer begun = answer;
            if (begun == null) {
                begun = connection.beginAnswer();
                answer = begun;
                connection.holdEvents();
            }
            boolean done = doHeldPart(begun);
            connection.closeIfTooLong(begun.bytes());
            return done;
        }

        @Override
        final void finish() {
            LongAnswer made = answer;
            answer = null;
            if (made != null) {
                try {
                    reply(made);
                } finally {
                    made.release();
                    room.end();
                }
            }
            connection.releaseEvents();
        }

        @Override
        final void release() {
            room.end();
            LongAnswer abandoned = answer;
            answer = null;
            if (abandoned != null) {
                abandoned.release();
            }
        }

        abstract boolean doHeldPart(LongAnswer answer);

        /** Replies, with the answer or without. */
        abstract void reply(LongAnswer answer);
    }
}
