package io.conclave.protocol;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The errors of the protocol; {@link #OK} is none. */
public enum ErrorCode {
    /** No error. */
    OK(0),

    /** Something went wrong in the server. */
    SYSTEM_ERROR(-1),

    /**
     * The server (or, in the results of a failed multi, an operation behind the one that failed) met a state that
     * should not be.
     */
    RUNTIME_INCONSISTENCY(-2),

    /** Stored data contradicts itself. */
    DATA_INCONSISTENCY(-3),

    /** The connection went before the reply. */
    CONNECTION_LOSS(-4),

    /** Bytes could not be decoded or encoded. */
    MARSHALLING_ERROR(-5),

    /** The server does not know the operation. */
    UNIMPLEMENTED(-6),

    /** The operation took too long. */
    OPERATION_TIMEOUT(-7),

    /** An argument is not valid. */
    BAD_ARGUMENTS(-8),

    /** The session is not known to the server. */
    UNKNOWN_SESSION(-12),

    /** The new configuration has no quorum. */
    NEW_CONFIG_NO_QUORUM(-13),

    /** Another reconfiguration is in progress. */
    RECONFIG_IN_PROGRESS(-14),

    /** The first of the errors of the tree; not an error itself. */
    API_ERROR(-100),

    /** The node does not exist. */
    NO_NODE(-101),

    /** The ACL forbids it. */
    NO_AUTH(-102),

    /** The version is not the one expected. */
    BAD_VERSION(-103),

    /** Ephemeral nodes have no children. */
    NO_CHILDREN_FOR_EPHEMERALS(-108),

    /** The node exists already. */
    NODE_EXISTS(-110),

    /** The node has children. */
    NOT_EMPTY(-111),

    /** The session has expired. */
    SESSION_EXPIRED(-112),

    /** A client-side error of old clients. */
    INVALID_CALLBACK(-113),

    /** The ACL is empty or not valid. */
    INVALID_ACL(-114),

    /** The authentication failed; the connection closes. */
    AUTH_FAILED(-115),

    /** The session is attached to another server. */
    SESSION_MOVED(-118),

    /** A write was sent to a read-only server. */
    NOT_READ_ONLY(-119),

    /** A local session cannot own ephemeral nodes. */
    EPHEMERAL_ON_LOCAL_SESSION(-120),

    /** There is no such watch. */
    NO_WATCHER(-121),

    /** The request was not answered in time. */
    REQUEST_TIMEOUT(-122),

    /** Reconfiguration is switched off. */
    RECONFIG_DISABLED(-123),

    /** The session was closed because the server requires SASL. */
    SESSION_CLOSED_REQUIRE_SASL_AUTH(-124),

    /** The write would exceed a quota. */
    QUOTA_EXCEEDED(-125),

    /** The server has too much to do. */
    THROTTLED(-127);

    private static final Map<Integer, Optional<ErrorCode>> BY_CODE =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(ErrorCode::code, Optional::of));

    private final int code;

    ErrorCode(int code) {
        this.code = code;
    }

    /** The number on the wire. */
    public int code() {
        return code;
    }

    /**
     * Finds by the number on the wire.
     *
     * @param code the number
     * @return empty if it is not known
     */
    public static Optional<ErrorCode> lookup(int code) {
        return BY_CODE.getOrDefault(code, Optional.empty());
    }

    /** The text of a number, known or not, for logs and error messages. */
    public static String describe(int code) {
        return lookup(code).map(known -> known + " (" + code + ")").orElse("unknown (" + code + ")");
    }
}
