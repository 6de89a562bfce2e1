package io.conclave.protocol;

/** The request numbers that have a meaning of their own. All others are counted up by the client from 1. */
public final class Xid {
    /** A watch event: sent by the server without a request. */
    public static final int WATCH_EVENT = -1;

    /** A ping and its answer. */
    public static final int PING = -2;

    /** Additional authentication and its answer. */
    public static final int AUTH = -4;

    /** Watches set again after a reconnect, and the answer. */
    public static final int SET_WATCHES = -8;

    private Xid() {}
}
