package io.conclave.line;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Sender;
import io.conclave.request.Request;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ties a request for a grant, the owner of this binding, to its session. What it sends goes over the session, and it ends when the session
 * does, or when one of its steps goes wrong: with a log line alone it would block others until the session ends.
 *
 * <p>All of it is for the session's dispatcher, on which the owner is told, too.
 */
public final class SessionBinding implements Sender {
    private final RecipeSession session;
    private final GrantRequest owner;
    private final Supplier<String> doing;
    private final BiConsumer<LossReason, ConclaveException> end;
    private final BiConsumer<ConclaveException, LossReason> depart;
    private Registration sessionListener = () -> {};

    /**
     * Nothing is tied yet.
     *
     * @param doing says what the owner does now, as in "the session was lost while holding ..."
     * @param end ends the owner, of which nothing is left at the backend; may be called again
     * @param depart ends the owner, which has to delete what is left of it; may be called again
     */
    public SessionBinding(
            RecipeSession session,
            GrantRequest owner,
            Supplier<String> doing,
            BiConsumer<LossReason, ConclaveException> end,
            BiConsumer<ConclaveException, LossReason> depart) {
        this.session = session;
        this.owner = owner;
        this.doing = doing;
        this.end = end;
        this.depart = depart;
    }

    /** From now on the owner ends with the session; one that has ended already is not told of. */
    public void tie() {
        sessionListener = session.onStateChange(this::sessionIs);
    }

    /** The session is nothing to the owner any more. */
    public void cut() {
        sessionListener.close();
    }

    /** The session's state, whether it was told or asked for. */
    public void sessionIs(SessionState state) {
        if (state == SessionState.LOST) {
            end.accept(LossReason.SESSION_LOST, new SessionGoneException("The session was lost while " + doing.get()));
        } else if (state == SessionState.CLOSED) {
            end.accept(
                    LossReason.COORDINATOR_CLOSED,
                    new ClosedException("The coordinator was closed while " + doing.get()));
        }
    }

    /** Something that the owner cannot mend. */
    public void fail(Throwable cause) {
        if (cause instanceof ClosedException closed) {
            end.accept(LossReason.COORDINATOR_CLOSED, closed);
        } else if (cause instanceof SessionGoneException gone) {
            end.accept(LossReason.SESSION_LOST, gone);
        } else {
            depart.accept(known(cause), LossReason.REFUSED);
        }
    }

    /** The failure as one that an application knows. */
    ConclaveException known(Throwable cause) {
        return cause instanceof ConclaveException known
                ? known
                : new OutcomeUnknownException("Unexpected failure while " + doing.get(), cause);
    }

    /** Sends a request; if one of the callbacks throws, the owner fails. */
    @Override
    public <R> void send(Request<R> request, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        session.send(
                request,
                answer -> guarded(() -> onAnswer.accept(answer)),
                cause -> guarded(() -> onFailure.accept(cause)));
    }

    /** Takes a step; if it throws, the owner fails. */
    public void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LoggerFactory.getLogger(owner.getClass()).error("{}: unexpected failure", owner, e);
            fail(e);
        }
    }

    /**
     * Logs that a grant has ended: a warning, unless the application has ended it itself.
     *
     * @param what was lost, as in "Lost the grant of /locks/orders: its znode was deleted"
     */
    public static void logLoss(Logger log, RecipeSession session, String what, LossReason reason) {
        if (reason == LossReason.COORDINATOR_CLOSED) {
            log.debug("Lost {}: the coordinator was closed", what);
        } else if (reason != LossReason.RELEASED) {
            log.warn("Lost {}: {}", what, why(session, reason));
        }
    }

    private static String why(RecipeSession session, LossReason reason) {
        return switch (reason) {
            case SESSION_LOST -> "the session 0x" + Long.toHexString(session.id()) + " was lost";
            case NODE_DELETED -> "another client deleted its znode";
            case REVOKED -> "it was revoked, and its znode deleted";
            case REFUSED -> "the store refuses to tell whether its znode is still there";
            case TIME_OVER -> "its time is over";
            case COORDINATOR_CLOSED -> "the coordinator was closed";
            case RELEASED -> "it was released";
        };
    }
}
