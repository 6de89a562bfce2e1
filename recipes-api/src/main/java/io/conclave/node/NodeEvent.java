package io.conclave.node;

/**
 * A change that a watch reports.
 *
 * @param type what happened
 * @param path to which znode, as the watcher named it (inside the coordinator's namespace)
 * @param zxid the change that caused it; -1 where the backend does not tell
 */
public record NodeEvent(Type type, NodePath path, long zxid) {
    /** What happened to the znode. */
    public enum Type {
        /** It was created. */
        CREATED,
        /** It was deleted. */
        DELETED,
        /** Its data was set. */
        DATA_CHANGED,
        /** A child was created or deleted. */
        CHILDREN_CHANGED,
        /** The watch was removed on request; nothing happened to the znode. */
        WATCH_REMOVED
    }
}
