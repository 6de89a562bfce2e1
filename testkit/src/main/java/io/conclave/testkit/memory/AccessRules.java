package io.conclave.testkit.memory;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.node.Permission;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The schemes world, auth and digest: permissions, and which ACLs are valid. */
final class AccessRules {
    private AccessRules() {}

    static boolean allows(Acl acl, Set<ProvenIdentity> identities, Permission permission) {
        return acl.entries().stream()
                .filter(entry -> entry.permissions().contains(permission))
                .anyMatch(entry -> entry.scheme().equals("world")
                        || identities.contains(new ProvenIdentity(entry.scheme(), entry.id())));
    }

    static void require(Acl acl, Set<ProvenIdentity> identities, Permission permission, NodePath path) {
        if (!allows(acl, identities, permission)) {
            throw new RefusedException(
                    RefusalReason.NO_AUTH, "no " + permission + " permission on " + path + " for this session");
        }
    }

    /** The ACL as it is stored: {@code auth} entries replaced by the caller's identities. */
    static Acl resolve(Acl acl, Set<ProvenIdentity> identities, NodePath path) {
        List<Acl.Entry> resolved = new ArrayList<>();
        for (Acl.Entry entry : acl.entries()) {
            switch (entry.scheme()) {
                case "world" -> {
                    checkThat(
                            entry.id().equals("anyone"),
                            path,
                            "the id of scheme world is \"anyone\", not \"" + entry.id() + "\"");
                    resolved.add(entry);
                }
                case "auth" -> {
                    checkThat(!identities.isEmpty(), path, "scheme auth needs a session with a proven identity");
                    for (ProvenIdentity identity : identities) {
                        resolved.add(new Acl.Entry(entry.permissions(), identity.scheme(), identity.id()));
                    }
                }
                case "digest" -> {
                    checkThat(entry.id().split(":", -1).length == 2, path, "the id of scheme digest is user:hash");
                    resolved.add(entry);
                }
                default -> checkThat(false, path, "unknown scheme \"" + entry.scheme() + "\"");
            }
        }
        return new Acl(resolved.stream().distinct().toList());
    }

    /** The ACL as it is shown to a client without ADMIN: hashes hidden. */
    static Acl masked(Acl acl) {
        return new Acl(acl.entries().stream().map(AccessRules::masked).toList());
    }

    private static Acl.Entry masked(Acl.Entry entry) {
        int colon = entry.id().indexOf(':');
        return entry.scheme().equals("digest") && colon >= 0
                ? new Acl.Entry(entry.permissions(), "digest", entry.id().substring(0, colon) + ":x")
                : entry;
    }

    private static void checkThat(boolean valid, NodePath path, String rule) {
        if (!valid) {
            throw new RefusedException(RefusalReason.INVALID_ACL, "invalid ACL for " + path + ": " + rule);
        }
    }
}
