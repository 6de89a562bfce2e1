package io.conclave.node;

import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * The permissions on a znode: a list of at least one entry.
 *
 * @param entries the entries, in order
 */
public record Acl(List<Entry> entries) {
    /** Everybody may do everything. */
    public static final Acl OPEN = new Acl(List.of(new Entry(EnumSet.allOf(Permission.class), "world", "anyone")));

    /** The identities that create the znode have all permissions, others none. */
    public static final Acl CREATOR_ONLY = new Acl(List.of(new Entry(EnumSet.allOf(Permission.class), "auth", "")));

    /** Everyone may read; no one may do anything else. */
    public static final Acl READ_ONLY = new Acl(List.of(new Entry(EnumSet.of(Permission.READ), "world", "anyone")));

    /** Copies the entries. */
    public Acl {
        entries = List.copyOf(entries);
        if (entries.isEmpty()) {
            throw new IllegalArgumentException("Invalid ACL: it must have at least one entry");
        }
    }

    /**
     * One identity and its permissions.
     *
     * @param permissions what is allowed
     * @param scheme how the identity is proven: world, auth, digest, ip, ...
     * @param id the identity in the words of the scheme
     */
    public record Entry(Set<Permission> permissions, String scheme, String id) {
        /** Copies the permissions. */
        public Entry {
            permissions = permissions.isEmpty() ? Set.of() : Collections.unmodifiableSet(EnumSet.copyOf(permissions));
            Objects.requireNonNull(scheme, "scheme");
            Objects.requireNonNull(id, "id");
        }

        /** The permissions as the wire's bits. */
        public int permissionBits() {
            return permissions.stream().mapToInt(Permission::bit).sum();
        }
    }
}
