package io.conclave.client;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import java.time.Duration;

/**
 * What the handshake shows to a server to open or resume the session: its number, its password, and the last change
 * that was seen. Owned by the session's event loop; any thread may read the number.
 */
final class SessionTicket {
    private static final byte[] NO_PASSWORD = new byte[16];

    private volatile long id;
    private byte[] password = NO_PASSWORD;
    private long zxidSeen;
    private long zxidReplied;
    private long zxidWatched;
    private int unansweredWatches;

    /** The session's number; 0 before a server has given one. */
    long id() {
        return id;
    }

    /** Whether a server has opened the session. */
    boolean isIssued() {
        return id != 0;
    }

    /** For a server that must have applied what this session has seen. */
    ConnectRequest show(Duration timeoutWished) {
        return greeting(timeoutWished, isIssued() ? zxidSeen : 0);
    }

    /** For any server: one that has lost what was seen does not know the session either, and may say so. */
    ConnectRequest showAlone(Duration timeoutWished) {
        return greeting(timeoutWished, 0);
    }

    private ConnectRequest greeting(Duration timeoutWished, long seen) {
        int timeoutMs = (int) Math.min(Integer.MAX_VALUE, timeoutWished.toMillis());
        return new ConnectRequest(0, seen, timeoutMs, id, password, false, true);
    }

    /** Whether a server has taken the ticket for another session's. */
    boolean isForAnother(ConnectResponse response) {
        return isIssued() && response.sessionId() != id;
    }

    /** A server has opened or resumed the session. */
    void accepted(ConnectResponse response) {
        byte[] granted = response.password();
        password = granted == null ? NO_PASSWORD : granted;
        id = response.sessionId();
    }

    /** A reply says at which change the server stands. */
    void replied(long zxid) {
        if (zxid > 0) {
            zxidReplied = zxid;
            seen(zxid);
        }
    }

    /**
     * An event reports a change, perhaps before any reply does. A server that has not applied this change must not
     * serve the session.
     */
    void seen(long zxid) {
        zxidSeen = Math.max(zxidSeen, zxid);
    }

    /**
     * The last change up to which no event is missing: the one seen in a reply, but on a new connection replies come
     * from a server that has not been told of the watches yet.
     */
    long zxidWatched() {
        return unansweredWatches > 0 ? zxidWatched : zxidReplied;
    }

    /** This many requests are sent that set the watches again. */
    void watchesSent(int requests) {
        zxidWatched = zxidWatched();
        unansweredWatches = requests;
    }

    /** One of them was answered, and the events that were missed have come before that. */
    void watchesSet() {
        unansweredWatches = Math.max(0, unansweredWatches - 1);
    }
}
