package io.conclave.consensus;

import java.util.EnumSet;
import java.util.Set;

/** What this member's log is doing. */
public enum LogRole {
    /** Made, not started. */
    NEW,
    /** Reading its files. */
    RECOVERING,
    /** Takes proposals. */
    LEADING,
    /** Closed on purpose; everything queued was committed. */
    CLOSED,
    /** Ended by an error; the {@link FatalHandler} was told. */
    FAILED;

    private Set<LogRole> legalPredecessors() {
        return switch (this) {
            case NEW -> EnumSet.noneOf(LogRole.class);
            case RECOVERING -> EnumSet.of(NEW);
            case LEADING -> EnumSet.of(RECOVERING);
            case CLOSED -> EnumSet.of(NEW, LEADING);
            case FAILED -> EnumSet.of(RECOVERING, LEADING);
        };
    }

    /** Whether the log may go from the given role to this one. */
    public boolean mayFollow(LogRole predecessor) {
        return legalPredecessors().contains(predecessor);
    }
}
