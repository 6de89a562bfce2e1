package io.conclave.client;

import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.MalformedFrameException;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import java.util.Optional;

/** A request and its reply, on the session's event loop. */
abstract class Exchange {
    private int xid;

    /** The request in a few words. */
    abstract String describe();

    /**
     * The record to send, made when it is sent.
     *
     * @return empty if no server needs to be asked: then {@link #answeredHere()} follows in its turn
     */
    abstract Optional<RequestBody> body();

    /** The server has answered. If this throws, the connection is dropped, and the exchange counts as unanswered. */
    abstract void answered(ReplyHeader header, JuteReader in);

    /**
     * Whether all events up to the zxid of its answer have come before it: not if it was sent before the watches were
     * set again.
     */
    boolean isBehindWatches() {
        return true;
    }

    /** The turn of an exchange that was not sent has come: all before it are done. */
    void answeredHere() {}

    /**
     * The server does not know this kind of request and said so before its turn; {@link #answeredHere()} follows in its
     * turn.
     */
    void refusedAhead(int err) {
        throw new MalformedFrameException("err", describe() + " is refused before its turn: " + err);
    }

    /** The exchange is larger than a frame may be; it is not sent, and {@link #answeredHere()} follows in its turn. */
    void tooLarge(long bytes) {
        throw new IllegalStateException(describe() + ": " + bytes + " bytes");
    }

    /** The exchange ends without an answer. */
    abstract void failed(ConclaveException failure);

    /** The connection was lost after the request was sent. */
    void connectionLost(String reason) {
        failed(new OutcomeUnknownException(describe() + ": connection lost before the reply (" + reason + ")"));
    }

    /** The number under which it was sent. */
    final int xid() {
        return xid;
    }

    final void sentAs(int number) {
        xid = number;
    }

    /** The server sends nothing more for it: it is completed when all before it are. */
    final void takesItsTurnHere() {
        xid = 0;
    }

    /** Whether it takes its turn without an answer of the server. */
    final boolean isLocal() {
        return xid == 0;
    }
}
