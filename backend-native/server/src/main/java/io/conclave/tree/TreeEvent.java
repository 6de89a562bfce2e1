package io.conclave.tree;

/**
 * Something that watchers may want to hear of.
 *
 * @param type what happened
 * @param path to which node
 * @param zxid by which change
 * @param acl the ACL of the node (for a deleted one, its last): a watcher that may not read it gets no event
 */
public record TreeEvent(Type type, String path, long zxid, ZnodeAcl acl) {
    /** What happened to a node, with the number of the event on the wire. */
    public enum Type {
        CREATED(1),
        DELETED(2),
        DATA_CHANGED(3),
        CHILDREN_CHANGED(4);

        private final int code;

        Type(int code) {
            this.code = code;
        }

        /** The number of the event on the wire. */
        public int code() {
            return code;
        }
    }
}
