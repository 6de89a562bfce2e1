package io.conclave.tree;

/** Why the tree refused a request, with the number that ZooKeeper's protocol has for it. */
public enum TreeError {
    BAD_ARGUMENTS(-8),
    NO_NODE(-101),
    NO_AUTH(-102),
    BAD_VERSION(-103),
    NO_CHILDREN_FOR_EPHEMERALS(-108),
    NODE_EXISTS(-110),
    NOT_EMPTY(-111),
    SESSION_EXPIRED(-112),
    INVALID_ACL(-114),
    SESSION_MOVED(-118),
    QUOTA_EXCEEDED(-125);

    private final int code;

    TreeError(int code) {
        this.code = code;
    }

    /**
     * Whether it says that the session, or the connection, is not the one to ask; then nothing was heard of the
     * session.
     */
    public boolean isOfSession() {
        return this == SESSION_EXPIRED || this == SESSION_MOVED;
    }

    /** The error's number on the wire, always negative. */
    public int code() {
        return code;
    }
}
