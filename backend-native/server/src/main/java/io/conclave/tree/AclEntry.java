package io.conclave.tree;

import static java.util.Objects.requireNonNull;

/**
 * One line of an ACL: what somebody may do.
 *
 * @param permissions the sum of {@link Permission} bits
 * @param id who
 */
public record AclEntry(int permissions, AuthId id) {
    public AclEntry {
        requireNonNull(id, "id");
    }
}
