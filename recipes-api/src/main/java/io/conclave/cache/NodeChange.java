package io.conclave.cache;

import io.conclave.node.NodePath;
import java.util.Optional;

/**
 * The difference between two states of a mirror at one path.
 *
 * @param path where
 * @param before the znode in the earlier state; empty if it was not there
 * @param after the znode in the later state; empty if it is not there any more
 */
public record NodeChange(NodePath path, Optional<CachedNode> before, Optional<CachedNode> after) {
    /** What a difference is. */
    public enum Type {
        /** It was not there before. */
        ADDED,
        /** Its data was set. */
        CHANGED,
        /** It was deleted and created again. */
        REPLACED,
        /** It is not there any more. */
        REMOVED
    }

    /** What the difference is. */
    public Type type() {
        if (before.isEmpty()) {
            return Type.ADDED;
        }
        if (after.isEmpty()) {
            return Type.REMOVED;
        }
        boolean same = before.get().stat().czxid() == after.get().stat().czxid();
        return same ? Type.CHANGED : Type.REPLACED;
    }

    @Override
    public String toString() {
        return type() + " " + after.or(() -> before).map(CachedNode::toString).orElse(path.toString());
    }
}
