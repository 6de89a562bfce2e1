package io.conclave.request;

import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import java.util.Objects;

/**
 * Reads a znode's ACL. Needs {@code Capability.ACL}. Refused with NO_NODE, NO_AUTH.
 *
 * @param path the znode
 */
public record GetAcl(NodePath path) implements Read<GetAcl.NodeAcl> {
    /** Rejects nulls. */
    public GetAcl {
        Objects.requireNonNull(path, "path");
    }

    /**
     * A znode's ACL and stat, read together.
     *
     * @param acl the ACL
     * @param stat the stat
     */
    public record NodeAcl(Acl acl, NodeStat stat) {}

    /** Reads the ACL of this znode. */
    public static GetAcl of(NodePath path) {
        return new GetAcl(path);
    }

    /**
     * As {@link #of(NodePath)}.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static GetAcl of(String path) {
        return of(NodePath.of(path));
    }

    @Override
    public GetAcl within(NodePath namespace) {
        return new GetAcl(path.within(namespace));
    }

    @Override
    public String describe() {
        return "get ACL " + path;
    }
}
