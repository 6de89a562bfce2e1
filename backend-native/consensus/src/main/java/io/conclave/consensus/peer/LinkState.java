package io.conclave.consensus.peer;

import java.util.EnumSet;
import java.util.Set;

/**
 * Where the link to a member stands.
 *
 * <pre>
 *   WAITING -> DIALLING -> GREETING -> UP
 *      ^___________|___________|________|      and from each to CLOSED
 * </pre>
 */
enum LinkState {
    /** Until the next attempt. */
    WAITING,
    /** The address is looked up and connected to. */
    DIALLING,
    /** Connected; the reply to the hello has not come. */
    GREETING,
    /** Messages can be sent. */
    UP,
    /** For good. */
    CLOSED;

    private Set<LinkState> legalPredecessors() {
        return switch (this) {
            case WAITING -> EnumSet.of(DIALLING, GREETING, UP);
            case DIALLING -> EnumSet.of(WAITING);
            case GREETING -> EnumSet.of(DIALLING);
            case UP -> EnumSet.of(GREETING);
            case CLOSED -> EnumSet.of(WAITING, DIALLING, GREETING, UP);
        };
    }

    boolean mayFollow(LinkState predecessor) {
        return legalPredecessors().contains(predecessor);
    }
}
