package io.conclave.testkit.driver;

import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.SessionGoneException;
import io.conclave.testkit.memory.RequestFate;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What can happen to the victim at one of its requests, and which failures that explains.
 *
 * <p>Those whose names end in {@code AT_REST} happen after the request, at the next moment when everybody waits: when a
 * contender stands in line, or a holder holds.
 */
public enum Fault {
    /** The connection drops before the request is applied. */
    DROP_BEFORE(RequestFate.DROP_BEFORE, Effect.NONE),
    /** The request is applied and its reply is lost. */
    DROP_AFTER(RequestFate.DROP_AFTER, Effect.NONE),
    /** The connection drops, and the request is applied late, right before the next connection. */
    ARRIVE_LATE(RequestFate.DROP_AND_APPLY_LATE, Effect.NONE),
    /**
     * The request is applied and its reply is lost; the server of the next connection has not heard of it yet, and
     * answers ordinary reads without it.
     */
    LAG(RequestFate.DROP_AND_LAG, Effect.NONE),
    /** The request is applied, and no reply comes; once everybody waits for it, the connection drops. */
    STALL(RequestFate.HOLD_REPLY, Effect.NONE),
    /**
     * The request is applied, and no reply comes; once everybody waits for it, the victim's calling threads are
     * interrupted, and then the connection drops.
     */
    STALL_AND_INTERRUPT(RequestFate.HOLD_REPLY, Effect.INTERRUPTS),
    /** The session expires before the request is applied, and its owner is told. */
    EXPIRE_BEFORE(RequestFate.EXPIRE_BEFORE, Effect.SESSION_ENDS),
    /** The request is applied, and the session expires before the reply. */
    EXPIRE_AFTER(RequestFate.EXPIRE_AFTER, Effect.SESSION_ENDS),
    /**
     * The connection goes before the request is applied and stays away for longer than the session lives: its owner
     * must find that out by the clock.
     */
    PARTITION_BEFORE(RequestFate.DROP_BEFORE, Effect.SESSION_ENDS),
    /** The request is applied, and the connection goes and stays away for longer than the session lives. */
    PARTITION_AFTER(RequestFate.DROP_AFTER, Effect.SESSION_ENDS),
    /**
     * The connection goes while the request is under way, and stays away for longer than the session lives by the
     * victim's clock. The server keeps the session; the request takes effect late, right before the next session.
     */
    PARTITION_LATE(RequestFate.DROP_AND_APPLY_LATE, Effect.SESSION_ENDS),
    /** The victim's calling threads are interrupted. */
    INTERRUPT(RequestFate.PROCEED, Effect.INTERRUPTS),
    /** An operator deletes the victim's ephemeral znodes, right before the request is applied. */
    DELETE(RequestFate.PROCEED, Effect.DELETES),
    /**
     * An operator deletes the victim's ephemeral znodes, and the reply to the request is lost: the event may be lost
     * with it.
     */
    DELETE_AND_DROP_AFTER(RequestFate.DROP_AFTER, Effect.DELETES),
    /** The connection drops while everybody waits. */
    DROP_AT_REST(null, Effect.NONE),
    /** The session expires while everybody waits. */
    EXPIRE_AT_REST(null, Effect.SESSION_ENDS),
    /** The connection goes while everybody waits, and stays away for longer than the session lives. */
    PARTITION_AT_REST(null, Effect.SESSION_ENDS),
    /** The victim's calling threads are interrupted while everybody waits. */
    INTERRUPT_AT_REST(null, Effect.INTERRUPTS),
    /** An operator deletes the victim's ephemeral znodes while everybody waits. */
    DELETE_AT_REST(null, Effect.DELETES),
    /** The connection goes before the request is applied and stays away while a rival acts; the session lives. */
    CUT_OFF_BEFORE(RequestFate.DROP_BEFORE, Effect.NONE),
    /**
     * The request is applied, its reply is lost, and the connection stays away while a rival acts; the session lives.
     */
    CUT_OFF_AFTER(RequestFate.DROP_AFTER, Effect.NONE),
    /**
     * The connection stays away while a rival acts, and the request is applied late, behind what the rival did; the
     * session lives.
     */
    CUT_OFF_LATE(RequestFate.DROP_AND_APPLY_LATE, Effect.NONE),
    /**
     * The request is applied, and the whole process is stopped before the reply; a rival acts, and the process goes on
     * within its session.
     */
    STOPPED(RequestFate.HOLD_REPLY, Effect.NONE),
    /**
     * The connection goes before the request is applied; a rival acts once the session has expired, and the process
     * comes back after that.
     */
    GONE_BEFORE(RequestFate.DROP_BEFORE, Effect.SESSION_ENDS),
    /**
     * The request is applied and its reply is lost; a rival acts once the session has expired, and the process comes
     * back after that.
     */
    GONE_AFTER(RequestFate.DROP_AFTER, Effect.SESSION_ENDS),
    /**
     * The request is applied, and the whole process is stopped before the reply; a rival acts once the session has
     * expired, and the process goes on after that.
     */
    STOPPED_PAST_SESSION(RequestFate.HOLD_REPLY, Effect.SESSION_ENDS),
    /** As {@link #CUT_OFF_AFTER}, while everybody waits. */
    CUT_OFF_AT_REST(null, Effect.NONE),
    /** As {@link #STOPPED}, while everybody waits. */
    STOPPED_AT_REST(null, Effect.NONE),
    /** As {@link #GONE_AFTER}, while everybody waits. */
    GONE_AT_REST(null, Effect.SESSION_ENDS),
    /** As {@link #STOPPED_PAST_SESSION}, while everybody waits. */
    STOPPED_PAST_SESSION_AT_REST(null, Effect.SESSION_ENDS);

    private final @Nullable RequestFate fate;
    private final Effect effect;

    private enum Effect {
        NONE,
        SESSION_ENDS,
        INTERRUPTS,
        DELETES
    }

    Fault(@Nullable RequestFate fate, Effect effect) {
        this.fate = fate;
        this.effect = effect;
    }

    /** What the store does with the request; empty for a fault at rest. */
    Optional<RequestFate> fate() {
        return Optional.ofNullable(fate);
    }

    /** Whether it waits for the next moment when everybody waits. */
    public boolean isAtRest() {
        return fate == null;
    }

    /** Whether the victim's session ends by it. */
    public boolean endsSession() {
        return effect == Effect.SESSION_ENDS;
    }

    /** Whether more of it happens when everybody waits. */
    boolean continuesAtRest() {
        return isAtRest() || this == STALL || this == STALL_AND_INTERRUPT || isAbsence();
    }

    /** Whether the victim is away while another process, the rival, does something: see {@link FaultRun#rival}. */
    public boolean isAbsence() {
        return switch (this) {
            case CUT_OFF_BEFORE, CUT_OFF_AFTER, CUT_OFF_LATE, CUT_OFF_AT_REST, GONE_BEFORE, GONE_AFTER, GONE_AT_REST ->
                true;
            default -> stopsProcess();
        };
    }

    /** The faults by which the victim is away while a rival acts. */
    public static Fault[] absences() {
        return Arrays.stream(values()).filter(Fault::isAbsence).toArray(Fault[]::new);
    }

    /** Whether it is the process that is stopped, not the network that is cut. */
    boolean stopsProcess() {
        return switch (this) {
            case STOPPED, STOPPED_PAST_SESSION, STOPPED_AT_REST, STOPPED_PAST_SESSION_AT_REST -> true;
            default -> false;
        };
    }

    /** Whether the connection goes. */
    boolean drops() {
        return switch (this) {
            case DROP_BEFORE,
                    DROP_AFTER,
                    ARRIVE_LATE,
                    LAG,
                    STALL,
                    DELETE_AND_DROP_AFTER,
                    DROP_AT_REST,
                    PARTITION_BEFORE,
                    PARTITION_AFTER,
                    PARTITION_LATE,
                    PARTITION_AT_REST -> true;
            default -> false;
        };
    }

    /** Whether the session ends because the connection stays away, not by word of the server. */
    boolean isPartition() {
        return switch (this) {
            case PARTITION_BEFORE, PARTITION_AFTER, PARTITION_LATE, PARTITION_AT_REST -> true;
            default -> false;
        };
    }

    /** Whether threads of the victim are interrupted. */
    public boolean interrupts() {
        return effect == Effect.INTERRUPTS;
    }

    /** Whether an operator deletes the victim's znodes. */
    public boolean deletesNodes() {
        return effect == Effect.DELETES;
    }

    /**
     * Whether the victim's call may end with this because of the fault. A dropped connection explains nothing: a recipe
     * has to get over it.
     */
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
            case DELETES -> reason == LossReason.NODE_DELETED || reason == LossReason.REVOKED;
        };
    }
}
