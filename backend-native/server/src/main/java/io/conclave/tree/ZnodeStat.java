package io.conclave.tree;

/**
 * What a client sees of a node, field by field as in ZooKeeper's protocol.
 *
 * @param czxid the change that created the node
 * @param mzxid the change that last set its data
 * @param ctime when it was created, in milliseconds of the epoch
 * @param mtime when its data was last set, in milliseconds of the epoch
 * @param version how often its data was set
 * @param cversion how often children came or went
 * @param aversion how often its ACL was set
 * @param ephemeralOwner the session that it goes with, 0 for others
 * @param dataLength the bytes of its data, 0 for null as well
 * @param numChildren how many children it has
 * @param pzxid the change that last added or removed a child
 */
public record ZnodeStat(
        long czxid,
        long mzxid,
        long ctime,
        long mtime,
        int version,
        int cversion,
        int aversion,
        long ephemeralOwner,
        int dataLength,
        int numChildren,
        long pzxid) {}
