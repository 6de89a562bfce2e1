package io.conclave.tree;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The access control list of a node. Immutable; nodes share equal lists. */
public final class ZnodeAcl {
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

    /** Which order it is does not matter; it is the same however the strings were chosen. */
    private static final Comparator<AclEntry> ORDER = Comparator.comparing(
                    (AclEntry entry) -> entry.id().id())
            .thenComparing(entry -> entry.id().scheme())
            .thenComparing(AclEntry::permissions);

    private final List<AclEntry> entries;

    /** Made when they are first asked for; any thread may do so, and they are immutable. */
    private @Nullable List<IpGrant> ipGrants;

    /** Made when it is first asked for, as well: nodes share a list, and each of them asks. */
    private @Nullable Measures measures;

    /**
     * What is known of a list.
     *
     * @param key that strangers cannot make equal for two lists
     * @param digest what it gives to the digest of a node
     * @param bytes what it takes on the heap, about
     */
    private record Measures(long key, long digest, long bytes) {}

    /** What an entry of the scheme {@code ip} gives. */
    record IpGrant(int permissions, IpRange range) {}

    /**
     * A list.
     *
     * @param entries the permissions of each id, in the order given by the client; an empty list allows everything to
     *     all
     */
    public ZnodeAcl(List<AclEntry> entries) {
        this.entries = List.copyOf(entries);
    }

    /** The permissions of each id, in the order given by the client; an empty list allows everything to all. */
    public List<AclEntry> entries() {
        return entries;
    }

    private Measures measures() {
        Measures known = measures;
        if (known == null) {
            known = new Measures(AclUses.keyOf(this), TreeDigest.ofAcl(this), AclUses.bytesOf(this));
            measures = known;
        }
        return known;
    }

    /** Strangers cannot make it equal for two lists. */
    long key() {
        return measures().key;
    }

    /** See {@link TreeDigest#ofAcl}. */
    long digest() {
        return measures().digest;
    }

    /** What it takes on the heap, about. */
    long bytes() {
        return measures().bytes;
    }

    /** Those that are well-formed, each read once: a list can have very many, and be asked very often. */
    List<IpGrant> ipGrants() {
        List<IpGrant> known = ipGrants;
        if (known == null) {
            known = readIpGrants();
            ipGrants = known;
        }
        return known;
    }

    private List<IpGrant> readIpGrants() {
        List<IpGrant> grants = new ArrayList<>();
        for (AclEntry entry : entries) {
            IpRange range = entry.id().scheme().equals(IdScheme.IP.word())
                    ? IpRange.of(entry.id().id())
                    : null;
            if (range != null) {
                grants.add(new IpGrant(entry.permissions(), range));
            }
        }
        return List.copyOf(grants);
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
        Set<AclEntry> seen = new TreeSet<>(ORDER);
        for (AclEntry entry : entries) {
            if (!seen.add(entry)) {
                continue;
            }
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
        return resolved.equals(entries) ? this : new ZnodeAcl(resolved);
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

    @Override
    public boolean equals(@Nullable Object other) {
        return other == this || (other instanceof ZnodeAcl that && entries.equals(that.entries));
    }

    @Override
    public int hashCode() {
        return Long.hashCode(key());
    }

    @Override
    public String toString() {
        return "ZnodeAcl" + entries;
    }
}
