package io.conclave.tree;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * The access control list of a node. Immutable; nodes share equal lists.
 *
 * @param entries the permissions of each id, in the order given by the client; an empty list allows everything to all
 */
public record ZnodeAcl(List<AclEntry> entries) {
    /** All may do everything: the ACL of a new tree's nodes. */
    public static final ZnodeAcl OPEN = new ZnodeAcl(List.of(new AclEntry(PermissionBits.ALL, AuthId.ANYONE)));

    /**
     * What {@code auth} may grow to: each such entry is multiplied by the caller's ids, and the result must fit a
     * frame.
     */
    private static final int MAX_AUTH_CHARS = 512 * 1024;

    /** What an entry takes beside its strings. */
    private static final int ENTRY_CHARS = 12;

    /** All may read, only the super user may do more. */
    public static final ZnodeAcl READ_ONLY = new ZnodeAcl(List.of(new AclEntry(PermissionBits.READ, AuthId.ANYONE)));

    public ZnodeAcl {
        entries = List.copyOf(entries);
    }

    /**
     * Whether a caller holds a permission.
     *
     * @param callerIds the ids that the caller's connection has proved
     * @param permissions {@link PermissionBits} bits, any one of which suffices
     */
    public boolean permits(List<AuthId> callerIds, int permissions) {
        if (entries.isEmpty()) {
            return true;
        }
        for (AuthId caller : callerIds) {
            if (caller.isSuper()) {
                return true;
            }
        }
        for (AclEntry entry : entries) {
            if ((entry.permissions() & permissions) != 0 && matchesAny(entry.id(), callerIds)) {
                return true;
            }
        }
        return false;
    }

    void check(List<AuthId> callerIds, int permissions) {
        if (!permits(callerIds, permissions)) {
            throw TreeException.of(TreeError.NO_AUTH);
        }
    }

    private static boolean matchesAny(AuthId wanted, List<AuthId> callerIds) {
        if (wanted.equals(AuthId.ANYONE)) {
            return true;
        }
        for (AuthId caller : callerIds) {
            if (matches(wanted, caller)) {
                return true;
            }
        }
        return false;
    }

    private static boolean matches(AuthId wanted, AuthId caller) {
        if (!wanted.scheme().equals(caller.scheme())) {
            return false;
        }
        return IdScheme.of(wanted.scheme())
                .filter(scheme -> scheme.matches(wanted.id(), caller.id()))
                .isPresent();
    }

    /**
     * The list as it will be stored: duplicates dropped, {@code auth} replaced by the caller's own ids.
     *
     * @throws TreeException INVALID_ACL for an empty list, an unknown scheme, a malformed id, {@code auth} from a
     *     caller without ids, or too many of them
     */
    ZnodeAcl resolvedFor(List<AuthId> callerIds) {
        if (equals(OPEN)) {
            return OPEN;
        }
        if (equals(READ_ONLY)) {
            return READ_ONLY;
        }
        if (entries.isEmpty()) {
            throw TreeException.of(TreeError.INVALID_ACL);
        }
        List<AclEntry> resolved = new ArrayList<>(entries.size());
        long chars = 0;
        long callerChars = charsOf(callerIds);
        for (AclEntry entry : new LinkedHashSet<>(entries)) {
            if (entry.id().scheme().equals("auth")) {
                chars += callerChars;
                refuseBeyondBound(chars);
                addCaller(resolved, entry.permissions(), callerIds);
            } else if (isValid(entry.id())) {
                resolved.add(entry);
            } else {
                throw TreeException.of(TreeError.INVALID_ACL);
            }
        }
        return new ZnodeAcl(resolved);
    }

    private static void refuseBeyondBound(long chars) {
        if (chars > MAX_AUTH_CHARS) {
            throw TreeException.of(TreeError.INVALID_ACL);
        }
    }

    private static long charsOf(List<AuthId> ids) {
        long chars = 0;
        for (AuthId id : ids) {
            chars += ENTRY_CHARS + id.scheme().length() + id.id().length();
        }
        return chars;
    }

    private static void addCaller(List<AclEntry> resolved, int permissions, List<AuthId> callerIds) {
        boolean found = false;
        for (AuthId caller : callerIds) {
            if (IdScheme.of(caller.scheme()).filter(IdScheme::isOfPerson).isPresent()) {
                resolved.add(new AclEntry(permissions, caller));
                found = true;
            }
        }
        if (!found) {
            throw TreeException.of(TreeError.INVALID_ACL);
        }
    }

    private static boolean isValid(AuthId id) {
        return IdScheme.of(id.scheme())
                .filter(scheme -> scheme.isValid(id.id()))
                .isPresent();
    }

    /** What a reader without ADMIN is shown: the ids, but not the digests of their passwords. */
    ZnodeAcl masked() {
        List<AclEntry> masked = new ArrayList<>(entries.size());
        for (AclEntry entry : entries) {
            masked.add(new AclEntry(entry.permissions(), entry.id().shown()));
        }
        return new ZnodeAcl(masked);
    }
}
