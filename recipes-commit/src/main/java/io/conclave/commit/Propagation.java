package io.conclave.commit;

/** How votes get to the deciding processes, in one transaction. */
public enum Propagation {
    /**
     * Only the coordinating process watches the votes, and all sites watch for its decision: O(n) messages. If its
     * session ends before it has decided, the sites do. The recipes page's answer to its recipe's first drawback.
     */
    THROUGH_COORDINATOR,
    /**
     * Every site watches every vote, and any of them may decide: O(n²) messages, and no wait for a site that
     * coordinates. The recipes page's first form.
     */
    EVERYONE_WATCHES
}
