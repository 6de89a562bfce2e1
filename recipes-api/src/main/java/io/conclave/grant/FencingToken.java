package io.conclave.grant;

/**
 * A number that grows with every grant of a resource; a store that remembers the largest token it has seen refuses a late writer with a smaller one.
 *
 * <p>Compared by generation, then by zxid. The zxid is the creation zxid of the contender's znode, so there is nothing to store and nothing to
 * clean up. The generation guards against a coordination store whose numbers were lost or re-wound. See Kleppmann, "How to do distributed locking".
 *
 * @param generation the generation of the backend's numbers; 0 where it keeps none and none was configured
 * @param zxid the change that created the contender's znode
 */
public record FencingToken(long generation, long zxid) implements Comparable<FencingToken> {
    @Override
    public int compareTo(FencingToken other) {
        int byGeneration = Long.compare(generation, other.generation);
        return byGeneration != 0 ? byGeneration : Long.compare(zxid, other.zxid);
    }

    /** Both numbers in hexadecimal, for logs. */
    @Override
    public String toString() {
        return Long.toHexString(generation) + ":" + Long.toHexString(zxid);
    }
}
