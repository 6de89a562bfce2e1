package io.conclave.grant;

/** How asking somebody to give up what he holds or waits for has ended; either way his place in the line is free. */
public enum RevocationOutcome {
    /** He was gone before he could be asked. */
    ALREADY_GONE,
    /** He went after he was asked, or may have been, and before the deadline: he gave up, or his session ended. */
    GAVE_UP,
    /**
     * He was still there at the deadline, and his znode was deleted: he learns of it as fast as his connection allows, and only a fencing token stops what he still
     * sends. Also said if the reply to the deletion was lost and it cannot be known who was quicker.
     */
    DELETED
}
