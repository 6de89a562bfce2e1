package io.conclave.tree;

/**
 * A session as all members know it.
 *
 * @param id chosen by the server that proposed it, never 0
 * @param password what a connection must show to take the session up again
 * @param timeoutMs after how long a silence the leader proposes to close it
 * @param attachment the zxid of the change that last attached it to a connection; requests of older ones are refused
 * @param suspicion the zxid of the change that marked it as silent; 0 if it has been heard of since
 * @param ephemerals the paths of the nodes that go with it
 */
public record SessionRecord(
        long id,
        SessionPassword password,
        int timeoutMs,
        long attachment,
        long suspicion,
        PersistentSet<String> ephemerals) {
    /** Its timeout never gets shorter: the client counts on the one it knows until an answer tells it of another. */
    SessionRecord attached(long zxid, int newTimeoutMs) {
        return new SessionRecord(id, password, Math.max(timeoutMs, newTimeoutMs), zxid, 0, ephemerals);
    }

    SessionRecord with(PersistentSet<String> newEphemerals) {
        return new SessionRecord(id, password, timeoutMs, attachment, suspicion, newEphemerals);
    }

    SessionRecord suspected(long zxid) {
        return new SessionRecord(id, password, timeoutMs, attachment, zxid, ephemerals);
    }

    /** Whether the leader has found it silent; then a ping is answered through the log only. */
    public boolean isSuspected() {
        return suspicion != 0;
    }
}
