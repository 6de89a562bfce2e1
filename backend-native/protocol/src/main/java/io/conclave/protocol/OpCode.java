package io.conclave.protocol;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The operations of the protocol. */
public enum OpCode {
    /** The type of a failed result in a multi; never a request. */
    ERROR(-1),

    /** Internal to servers: a session begins. */
    CREATE_SESSION(-10),

    /** Ends the session; answered, then the connection closes. */
    CLOSE_SESSION(-11),

    /** Creates a node; answers its path. */
    CREATE(1),

    /** Deletes a node. */
    DELETE(2),

    /** Reads the Stat of a node. */
    EXISTS(3),

    /** Reads data and Stat. */
    GET_DATA(4),

    /** Sets data. */
    SET_DATA(5),

    /** Reads the ACL. */
    GET_ACL(6),

    /** Sets the ACL. */
    SET_ACL(7),

    /** Reads the names of the children. */
    GET_CHILDREN(8),

    /** Brings the server up to date. */
    SYNC(9),

    /** Keeps the session alive. */
    PING(11),

    /** Reads the names of the children and the Stat. */
    GET_CHILDREN2(12),

    /** Checks the version of a node; inside a multi only. */
    CHECK(13),

    /** Several changes, all or none. */
    MULTI(14),

    /** Creates a node; answers path and Stat. */
    CREATE2(15),

    /** Changes the members of the ensemble. */
    RECONFIG(16),

    /** Asks whether a watch is set. */
    CHECK_WATCHES(17),

    /** Removes watches. */
    REMOVE_WATCHES(18),

    /** Creates a container; answers path and Stat. */
    CREATE_CONTAINER(19),

    /** Internal to servers: deletes an empty container. Refused from clients. */
    DELETE_CONTAINER(20),

    /** Creates a node with a time to live; answers path and Stat. */
    CREATE_TTL(21),

    /** Several reads, each with its own result. */
    MULTI_READ(22),

    /** Adds an identity to the connection. */
    AUTH(100),

    /** Sets one-shot watches again after a reconnect. */
    SET_WATCHES(101),

    /** A step of a SASL authentication. */
    SASL(102),

    /** Lists the session's ephemeral nodes. */
    GET_EPHEMERALS(103),

    /** Counts all descendants. */
    GET_ALL_CHILDREN_NUMBER(104),

    /** Sets watches of all kinds again after a reconnect. */
    SET_WATCHES2(105),

    /** Adds a persistent watch. */
    ADD_WATCH(106),

    /** Lists the connection's identities. */
    WHO_AM_I(107);

    private static final Map<Integer, Optional<OpCode>> BY_CODE =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(OpCode::code, Optional::of));

    private final int code;

    OpCode(int code) {
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
    public static Optional<OpCode> lookup(int code) {
        return BY_CODE.getOrDefault(code, Optional.empty());
    }
}
