package io.conclave.mirror;

import io.conclave.node.NodePath;

/** Which part of the tree a mirror shows. */
public enum MirrorScope {
    /** One znode. */
    NODE,
    /** The children of a znode, without itself. */
    CHILDREN,
    /** A znode and all below it. */
    SUBTREE;

    /** Whether a znode belongs to it. */
    boolean holds(NodePath root, NodePath path) {
        return switch (this) {
            case NODE -> path.equals(root);
            case CHILDREN -> path.parent().filter(root::equals).isPresent();
            case SUBTREE -> path.equals(root) || isBelow(root, path);
        };
    }

    static boolean isBelow(NodePath root, NodePath path) {
        return root.isRoot() ? !path.isRoot() : path.toString().startsWith(root + "/");
    }
}
