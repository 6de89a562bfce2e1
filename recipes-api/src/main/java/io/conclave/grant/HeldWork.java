package io.conclave.grant;

/**
 * What is done while something is held; see {@code whileHeld} of the locks.
 *
 * @param <G> the kind of grant
 * @param <X> what it throws
 */
@FunctionalInterface
public interface HeldWork<G, X extends Exception> {
    /**
     * Does the work. Its thread is interrupted when the grant is lost; then it should return or throw soon, because
     * others may hold the same by now.
     *
     * @param grant held when the work begins; given back when the work ends
     * @throws X is thrown to the caller
     */
    void run(G grant) throws X;
}
