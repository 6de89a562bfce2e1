package io.conclave.line;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Registration;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.spi.Request;
import io.conclave.spi.SessionState;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ties a tenant to his session: what he sends goes over it, and he ends when the session does, or when one of his steps goes wrong. With a log line alone
 * he would stand in the way of others for ever.
 *
 * <p>All of it is for the session's dispatcher, on which the tenant is told, too.
 */
public final class Lifeline {
    private final RecipeSession session;
    private final Tenant tenant;
    private final Supplier<String> doing;
    private final BiConsumer<LossReason, ConclaveException> end;
    private final BiConsumer<ConclaveException, LossReason> depart;
    private Registration sessionListener = () -> {};

    /**
     * Nothing is tied yet.
     *
     * @param doing says what the tenant does now, as in "the session was lost while holding ..."
     * @param end ends the tenant, of whom nothing is left at the backend; may be called again
     * @param depart ends the tenant, who has to delete what is left of him; may be called again
     */
    public Lifeline(
            RecipeSession session,
            Tenant tenant,
            Supplier<String> doing,
            BiConsumer<LossReason, ConclaveException> end,
            BiConsumer<ConclaveException, LossReason> depart) {
        this.session = session;
        this.tenant = tenant;
        this.doing = doing;
        this.end = end;
        this.depart = depart;
    }

    /** From now on the tenant ends with the session; one that has ended already is not told of. */
    public void tie() {
        sessionListener = session.onStateChange(this::sessionIs);
    }

    /** The session is nothing to the tenant any more. */
    public void cut() {
        sessionListener.close();
    }

    /** The session's state, from whomever it is heard first. */
    public void sessionIs(SessionState state) {
        if (state == SessionState.LOST) {
            end.accept(LossReason.SESSION_LOST, new SessionGoneException("The session was lost while " + doing.get()));
        } else if (state == SessionState.CLOSED) {
            end.accept(
                    LossReason.COORDINATOR_CLOSED,
                    new ClosedException("The coordinator was closed while " + doing.get()));
        }
    }

    /** Something that the tenant cannot mend. */
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

    /** Sends a request; if one of the callbacks throws, the tenant fails. */
    public <R> void send(Request<R> request, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        session.send(
                request,
                answer -> guarded(() -> onAnswer.accept(answer)),
                cause -> guarded(() -> onFailure.accept(cause)));
    }

    /** Takes a step; if it throws, the tenant fails. */
    public void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LoggerFactory.getLogger(tenant.getClass()).error("{}: unexpected failure", tenant, e);
            fail(e);
        }
    }

    /** Logs that a grant has ended: a warning, unless the application has ended it itself. */
    public static void logLoss(Logger log, Object whose, LossReason reason) {
        if (reason == LossReason.COORDINATOR_CLOSED) {
            log.debug("{}: lost: {}", whose, reason);
        } else if (reason != LossReason.RELEASED) {
            log.warn("{}: lost: {}", whose, reason);
        }
    }
}
