package io.conclave.tree;

import static java.util.Objects.requireNonNull;

/**
 * One line of an ACL: what an id may do.
 *
 * @param permissions the sum of {@link PermissionBits} bits
 * @param id the id that the permissions are given to
 */
public record AclEntry(int permissions, AuthId id) {
    public AclEntry {
        requireNonNull(id, "id");
    }
}
