package io.conclave.consensus.entry;

/** What an entry of the log is about. The code is part of the file format. */
public enum LogEntryKind {
    /** The first entry of each leader; the state machine raises its epoch. Payload: none. */
    TERM(1),
    /** A proposal of the application. */
    APPLICATION(2),
    /** The cluster's membership from here on. Payload: a {@link ClusterConfiguration}. */
    CONFIGURATION(3),
    /** Switches new semantics on, once all members understand them. Payload: the level, a four-byte int. */
    FEATURE_LEVEL(4),
    /**
     * A member has started; its index is the incarnation of what the member proposes. Payload: member 4, nonce 8,
     * directory 8, number of the start 8, id of the start 8.
     */
    STARTED(5);

    private final byte code;

    LogEntryKind(int code) {
        this.code = (byte) code;
    }

    /** What stands for it in files and messages. */
    public byte code() {
        return code;
    }

    /**
     * The kind with this code.
     *
     * @throws IllegalArgumentException if this version knows none
     */
    public static LogEntryKind of(byte code) {
        return switch (code) {
            case 1 -> TERM;
            case 2 -> APPLICATION;
            case 3 -> CONFIGURATION;
            case 4 -> FEATURE_LEVEL;
            case 5 -> STARTED;
            default -> throw new IllegalArgumentException("entry kind " + code + " is unknown to this version");
        };
    }
}
