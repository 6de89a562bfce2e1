package io.conclave.request;

import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import java.util.Objects;

/**
 * Sets a znode's ACL. Needs {@code Capability.ACL}. Refused with NO_NODE, BAD_VERSION, NO_AUTH, INVALID_ACL.
 *
 * @param path the znode
 * @param acl the new ACL
 * @param aclVersion the expected ACL version; -1 for any
 */
public record SetAcl(NodePath path, Acl acl, int aclVersion) implements Request<NodeStat> {
    /** Rejects nulls. */
    public SetAcl {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(acl, "acl");
    }

    /** Sets the ACL at any version. */
    public static SetAcl of(NodePath path, Acl acl) {
        return new SetAcl(path, acl, -1);
    }

    /**
     * As {@link #of(NodePath, Acl)}.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static SetAcl of(String path, Acl acl) {
        return of(NodePath.of(path), acl);
    }

    @Override
    public SetAcl within(NodePath namespace) {
        return new SetAcl(path.within(namespace), acl, aclVersion);
    }

    @Override
    public String describe() {
        return "set ACL " + path;
    }
}
