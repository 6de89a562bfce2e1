package io.conclave.consensus;

/** What an entry of the log is about. The code is part of the file format. */
public enum EntryKind {
    /** The first entry of each leader; the state machine raises its epoch. Payload: none. */
    TERM(1),
    /** A proposal of the application. */
    APPLICATION(2),
    /** A change of the cluster's membership. Reserved: nothing writes it yet. */
    CONFIGURATION(3),
    /** Switches new semantics on, once all members understand them. Payload: the level, a four-byte int. */
    FEATURE_LEVEL(4);

    private final byte code;

    EntryKind(int code) {
        this.code = (byte) code;
    }

    byte code() {
        return code;
    }

    static EntryKind of(byte code) {
        return switch (code) {
            case 1 -> TERM;
            case 2 -> APPLICATION;
            case 3 -> CONFIGURATION;
            case 4 -> FEATURE_LEVEL;
            default -> throw new LogException("entry kind " + code + " is unknown to this version");
        };
    }
}
