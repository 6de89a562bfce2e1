package io.conclave.line;

import io.conclave.error.GrantLostException;
import io.conclave.grant.Grant;
import io.conclave.grant.HeldCall;
import io.conclave.grant.HeldWork;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs work on the calling thread while a grant is held, and gives the grant back when the work ends. A loss is never
 * silent: it interrupts the work, and the caller is told by {@link GrantLostException}.
 *
 * <p>What the caller gets:
 *
 * <ul>
 *   <li>Held until the work ended: the result of the work, or what it threw.
 *   <li>Lost before that, and the work returned: {@link GrantLostException}.
 *   <li>Lost before that, and the work threw an exception: {@link GrantLostException}, with that exception as a
 *       suppressed one. If it is a GrantLostException itself, that one.
 *   <li>Lost before that, and the work threw an error: the error, with the GrantLostException as a suppressed
 *       exception.
 * </ul>
 *
 * <p>The interrupt of a loss comes only while the work runs, and once; again if work within this one may have taken it
 * ({@link LossInterrupt}). If its flag is still set when the work ends, it is cleared. An interrupt from elsewhere that
 * comes before the loss stays: the work is then interrupted already, and is interrupted for the loss only if it clears
 * that flag and goes on. A thread has one flag, which does not say who has set it. So an interrupt from elsewhere that
 * comes after the loss, while the work still runs, may be taken for that of the loss; the work ends by it in either
 * case, and the caller gets the GrantLostException.
 *
 * <p>Work that gives the grant back itself, or downgrades it, is not watched any longer.
 */
public final class WhileHeld {
    private WhileHeld() {}

    /**
     * Runs the work and gives the grant back. Blocks as long as the work does, and then as {@link Grant#close()}.
     *
     * @param grant one of this library's
     * @throws GrantLostException if the grant was lost before the work ended
     * @throws X what the work throws
     */
    public static <G extends Grant, X extends Exception> void run(G grant, HeldWork<? super G, X> work) throws X {
        HeldCall<G, Boolean, X> call = held -> {
            work.run(held);
            return true;
        };
        call(grant, call);
    }

    /** As {@link #run}, with a result. */
    public static <G extends Grant, R extends @Nullable Object, X extends Exception> R call(
            G grant, HeldCall<? super G, R, X> work) throws X {
        AbstractGrant<?> held = AbstractGrant.of(grant);
        try (held) {
            return callAndTell(grant, held, work);
        }
    }

    private static <G extends Grant, R extends @Nullable Object, X extends Exception> R callAndTell(
            G grant, AbstractGrant<?> held, HeldCall<? super G, R, X> work) throws X {
        LossInterrupt interrupt = LossInterrupt.begin(grant);
        R result;
        try {
            held.onLoss(interrupt::onLoss);
            result = work.call(grant);
        } catch (Throwable failure) {
            Throwable told = told(held, failure);
            interrupt.end(failure, told);
            if (told instanceof GrantLostException loss) {
                throw loss;
            }
            throw failure;
        }
        interrupt.end(null, null);
        Optional<GrantLostException> loss = held.loss();
        if (loss.isPresent()) {
            throw loss.get();
        }
        return result;
    }

    /** What the caller is to know first of a failure and a loss; the other one is suppressed. */
    private static Throwable told(AbstractGrant<?> held, Throwable failure) {
        Optional<GrantLostException> loss = held.loss();
        if (loss.isEmpty() || failure instanceof GrantLostException) {
            return failure;
        }
        if (failure instanceof Error) {
            failure.addSuppressed(loss.get());
            return failure;
        }
        loss.get().addSuppressed(failure);
        return loss.get();
    }
}
