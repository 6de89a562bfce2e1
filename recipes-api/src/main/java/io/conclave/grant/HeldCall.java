package io.conclave.grant;

import org.jspecify.annotations.Nullable;

/**
 * What is done while something is held, with a result; see {@code callWhileHeld} of the locks.
 *
 * @param <G> the kind of grant
 * @param <R> the result
 * @param <X> what it throws
 */
@FunctionalInterface
public interface HeldCall<G, R extends @Nullable Object, X extends Exception> {
    /**
     * Does the work; see {@link HeldWork#run}.
     *
     * @param grant held when the work begins; given back when the work ends
     * @return is returned to the caller, if the grant was held until then
     * @throws X is thrown to the caller
     */
    R call(G grant) throws X;
}
