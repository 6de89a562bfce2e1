package io.conclave.consensus;

import java.util.EnumSet;
import java.util.Set;

/** What this member's log is doing. */
public enum LogRole {
    /** Made, not started. */
    NEW,
    /** Reading its files. */
    RECOVERING,
    /** Its directory is empty and it may not make a cluster of its own: it waits for a member of one that names it. */
    JOINING,
    /** Follows a leader, looks for one, or stands for election; takes proposals and keeps them for the leader. */
    FOLLOWING,
    /** Leads. */
    LEADING,
    /** Closed on purpose; everything queued was committed or is completed with its outcome. */
    CLOSED,
    /** Ended by an error; the {@link FatalHandler} was called. */
    FAILED;

    private Set<LogRole> legalPredecessors() {
        return switch (this) {
            case NEW -> EnumSet.noneOf(LogRole.class);
            case RECOVERING -> EnumSet.of(NEW, JOINING);
            case JOINING -> EnumSet.of(NEW);
            case FOLLOWING -> EnumSet.of(RECOVERING, LEADING);
            case LEADING -> EnumSet.of(FOLLOWING);
            case CLOSED -> EnumSet.of(NEW, JOINING, FOLLOWING, LEADING);
            case FAILED -> EnumSet.of(NEW, RECOVERING, JOINING, FOLLOWING, LEADING);
        };
    }

    /** Whether the log may go from the given role to this one. */
    public boolean mayFollow(LogRole predecessor) {
        return legalPredecessors().contains(predecessor);
    }

    /** Whether the log takes proposals. */
    public boolean isWorking() {
        return this == FOLLOWING || this == LEADING;
    }
}
