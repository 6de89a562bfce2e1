package io.conclave.membership;

/**
 * Where a membership stands.
 *
 * <pre>{@code
 *   JOINING -> MEMBER <-> REJOINING
 *      |         |            |
 *      +---------+------------+--> LEAVING -> ENDED  (and ENDED from every state)
 * }</pre>
 */
public enum MembershipState {
    /** On the way into the group for the first time. */
    JOINING,
    /** In the group. While the connection is away it stays so until the session is lost. */
    MEMBER,
    /**
     * The session was lost, and with it the place in the group; on the way into it again, on the coordinator's next
     * session.
     */
    REJOINING,
    /** On the way out. */
    LEAVING,
    /** Not in the group, for good. */
    ENDED;

    /** Whether a membership in this state may go over to the next one. */
    public boolean mayBecome(MembershipState next) {
        return switch (next) {
            case JOINING -> false;
            case MEMBER -> this == JOINING || this == REJOINING;
            case REJOINING -> this == MEMBER;
            case LEAVING -> this == JOINING || this == MEMBER || this == REJOINING;
            case ENDED -> this != ENDED;
        };
    }
}
