package io.conclave.node;

/**
 * What the tree knows of a znode besides its data.
 *
 * @param czxid the change that created it
 * @param mzxid the change that last set its data
 * @param pzxid the change that last created or deleted a child
 * @param ctimeMs when it was created, in milliseconds since the epoch by the leader's clock
 * @param mtimeMs when its data was last set, likewise
 * @param version how often its data was set
 * @param cversion changes of its children
 * @param aversion changes of its ACL
 * @param ephemeralOwner the id of the session that it belongs to; 0 if it is not ephemeral
 * @param dataLength bytes of data
 * @param numChildren number of children
 */
public record NodeStat(
        long czxid,
        long mzxid,
        long pzxid,
        long ctimeMs,
        long mtimeMs,
        int version,
        int cversion,
        int aversion,
        long ephemeralOwner,
        int dataLength,
        int numChildren) {
    /** Whether the znode lives and dies with a session. */
    public boolean isEphemeral() {
        return ephemeralOwner != 0;
    }
}
