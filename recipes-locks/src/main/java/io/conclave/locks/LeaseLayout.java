package io.conclave.locks;

import io.conclave.node.NodePath;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Where the znodes of a resource with leases are: each grant is a persistent child, {@code lease-<guid>}; waiters stand
 * in {@code line}.
 *
 * @param path the resource's own znode; the version of its data grows with each grant, and so tells the grants in order
 */
record LeaseLayout(NodePath path) {
    private static final String PREFIX = "lease-";
    private static final Pattern ID = Pattern.compile(PREFIX + "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    static String newId() {
        return PREFIX + UUID.randomUUID();
    }

    static boolean isLease(String name) {
        return ID.matcher(name).matches();
    }

    NodePath line() {
        return path.child("line");
    }

    NodePath lease(String id) {
        if (!isLease(id)) {
            throw new IllegalArgumentException("Invalid id \"" + id + "\" of a grant of " + path
                    + ": it must be what LeasedGrant.id() gave, \"" + PREFIX + "\" and a UUID");
        }
        return path.child(id);
    }
}
