package io.conclave.testkit.history;

import io.conclave.grant.FencingToken;
import java.util.Objects;

/**
 * One thing that happened to one contender for a lock.
 *
 * @param kind what
 * @param contender names one attempt to get the lock; never used for two
 * @param atNanos when, on the clock of the history
 * @param token of a grant and, with its sequence, of an entry in line; {@link #NO_TOKEN} otherwise
 * @param endsNanos of a grant and of what moves its deadline: until when it surely lasts
 */
public record LockEvent(Kind kind, String contender, long atNanos, FencingToken token, long endsNanos) {
    /** Stands where an event has no token. Smaller than every grant's. */
    public static final FencingToken NO_TOKEN = new FencingToken(0, 0);

    /** What happened. */
    public enum Kind {
        /** The lock was asked for. */
        REQUESTED,
        /** The contender's znode was created: its place in the line is known. */
        ENQUEUED,
        /** The lock was granted. */
        GRANTED,
        /** The holder's deadline was moved. */
        EXTENDED,
        /** The contender went without having been granted the lock. */
        ABANDONED,
        /** The holder began to give the lock back and does not use it any more. */
        RELEASED,
        /** The holder learned that it has lost the lock. */
        LOST
    }

    /** Rejects nulls. */
    public LockEvent {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(contender, "contender");
        Objects.requireNonNull(token, "token");
    }
}
