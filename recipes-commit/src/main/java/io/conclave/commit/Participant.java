package io.conclave.commit;

/**
 * A site's own part in transactions: what it does to its database, say.
 *
 * <p>Called on the coordinator's listener threads, for one transaction one call at a time, for different transactions
 * at the same time; it may block. Every method may be called again for the same transaction after a crash or a lost
 * session, so each must be idempotent: what was done already is as good.
 */
public interface Participant {
    /**
     * Does all that it takes so that {@link #commit} cannot fail any more, durably, and votes. A participant that has
     * voted to commit is in doubt until it learns the decision, and must be able to do either even after a crash. What
     * it throws is a vote to abort.
     */
    Vote prepare(TransactionPart transaction) throws Exception;

    /**
     * Makes the work take effect. Only called when all sites have voted to commit. If it throws, it is called again a
     * little later, and again.
     */
    void commit(TransactionPart transaction) throws Exception;

    /**
     * Undoes the work; also called if nothing was prepared here. If it throws, it is called again a little later, and
     * again.
     */
    void abort(TransactionPart transaction) throws Exception;
}
