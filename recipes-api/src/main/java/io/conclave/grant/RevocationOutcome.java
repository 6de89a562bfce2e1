package io.conclave.grant;

/**
 * How the request to release ended. In each case the holder's or waiter's znode is gone; but a writer that was asked
 * may go on as a reader in the same place, by a downgrade.
 */
public enum RevocationOutcome {
    /** The holder or waiter was gone before it could be asked. */
    ALREADY_GONE,
    /** It went before the deadline, after it was asked or may have been asked: it released, or its session ended. */
    RELEASED,
    /**
     * It was still there at the deadline, and its znode was deleted. It learns of that as fast as its connection
     * allows; only a fencing token stops what it still sends. Also the answer if the reply to the deletion was lost,
     * and it is not known which came first.
     */
    DELETED
}
