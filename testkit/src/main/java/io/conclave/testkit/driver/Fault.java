package io.conclave.testkit.driver;

import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.SessionGoneException;
import io.conclave.testkit.memory.Decision;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What can happen to the victim at one of its requests, and which failures that explains.
 *
 * <p>Those whose names end in {@code AT_REST} happen after the request, at the next moment when everybody waits: when a contender stands in line, or a holder holds.
 */
public enum Fault {
    /** The connection drops before the request is applied. */
    DROP_BEFORE(Decision.DROP_BEFORE, Effect.NONE),
    /** The request is applied and its reply is lost. */
    DROP_AFTER(Decision.DROP_AFTER, Effect.NONE),
    /** The connection drops, and the request is applied late, right before the next connection. */
    ARRIVE_LATE(Decision.DROP_AND_APPLY_LATE, Effect.NONE),
    /** The request is applied, and no reply comes; once everybody waits for it, the connection drops. */
    STALL(Decision.HOLD_REPLY, Effect.NONE),
    /** The request is applied, and no reply comes; once everybody waits for it, the victim's calling threads are interrupted, and then the connection drops. */
    STALL_AND_INTERRUPT(Decision.HOLD_REPLY, Effect.INTERRUPTS),
    /** The session expires before the request is applied, and its owner is told. */
    EXPIRE_BEFORE(Decision.EXPIRE_BEFORE, Effect.SESSION_ENDS),
    /** The request is applied, and the session expires before the reply. */
    EXPIRE_AFTER(Decision.EXPIRE_AFTER, Effect.SESSION_ENDS),
    /** The connection goes before the request is applied and stays away for longer than the session lives: its owner must find that out by the clock. */
    PARTITION_BEFORE(Decision.DROP_BEFORE, Effect.SESSION_ENDS),
    /** The request is applied, and the connection goes and stays away for longer than the session lives. */
    PARTITION_AFTER(Decision.DROP_AFTER, Effect.SESSION_ENDS),
    /** The victim's calling threads are interrupted. */
    INTERRUPT(Decision.PROCEED, Effect.INTERRUPTS),
    /** An operator deletes the victim's ephemeral znodes, right before the request is applied. */
    DELETE(Decision.PROCEED, Effect.DELETES),
    /** An operator deletes the victim's ephemeral znodes, and the reply to the request is lost: the event may be lost with it. */
    DELETE_AND_DROP_AFTER(Decision.DROP_AFTER, Effect.DELETES),
    /** The connection drops while everybody waits. */
    DROP_AT_REST(null, Effect.NONE),
    /** The session expires while everybody waits. */
    EXPIRE_AT_REST(null, Effect.SESSION_ENDS),
    /** The connection goes while everybody waits, and stays away for longer than the session lives. */
    PARTITION_AT_REST(null, Effect.SESSION_ENDS),
    /** The victim's calling threads are interrupted while everybody waits. */
    INTERRUPT_AT_REST(null, Effect.INTERRUPTS),
    /** An operator deletes the victim's ephemeral znodes while everybody waits. */
    DELETE_AT_REST(null, Effect.DELETES);

    private final @Nullable Decision decision;
    private final Effect effect;

    private enum Effect {
        NONE,
        SESSION_ENDS,
        INTERRUPTS,
        DELETES
    }

    Fault(@Nullable Decision decision, Effect effect) {
        this.decision = decision;
        this.effect = effect;
    }

    /** What the store does with the request; empty for a fault at rest. */
    Optional<Decision> decision() {
        return Optional.ofNullable(decision);
    }

    /** Whether it waits for the next moment when everybody waits. */
    public boolean isAtRest() {
        return decision == null;
    }

    /** Whether the victim's session ends by it. */
    public boolean endsSession() {
        return effect == Effect.SESSION_ENDS;
    }

    /** Whether more of it happens when everybody waits. */
    boolean continuesAtRest() {
        return isAtRest() || this == STALL || this == STALL_AND_INTERRUPT;
    }

    /** Whether the connection goes. */
    boolean drops() {
        return switch (this) {
            case DROP_BEFORE,
                    DROP_AFTER,
                    ARRIVE_LATE,
                    STALL,
                    DELETE_AND_DROP_AFTER,
                    DROP_AT_REST,
                    PARTITION_BEFORE,
                    PARTITION_AFTER,
                    PARTITION_AT_REST -> true;
            default -> false;
        };
    }

    /** Whether the session ends because the connection stays away, not by word of the server. */
    boolean isPartition() {
        return this == PARTITION_BEFORE || this == PARTITION_AFTER || this == PARTITION_AT_REST;
    }

    /** Whether threads of the victim are interrupted. */
    public boolean interrupts() {
        return effect == Effect.INTERRUPTS;
    }

    /** Whether an operator deletes the victim's znodes. */
    public boolean deletesNodes() {
        return effect == Effect.DELETES;
    }

    /** Whether the victim's call may end with this because of the fault. A dropped connection explains nothing: a recipe has to get over it. */
    boolean explains(Throwable failure) {
        return switch (effect) {
            case NONE -> false;
            case SESSION_ENDS -> failure instanceof SessionGoneException || failure instanceof GrantLostException;
            case INTERRUPTS -> failure instanceof InterruptedException;
            case DELETES -> failure instanceof GrantLostException;
        };
    }

    /** Whether a grant of the victim may be lost for this reason because of the fault. */
    boolean explains(LossReason reason) {
        return switch (effect) {
            case NONE, INTERRUPTS -> false;
            case SESSION_ENDS -> reason == LossReason.SESSION_LOST;
            case DELETES -> reason == LossReason.NODE_DELETED;
        };
    }
}
