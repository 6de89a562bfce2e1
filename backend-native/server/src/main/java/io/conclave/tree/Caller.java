package io.conclave.tree;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A caller in the eyes of ACLs: what each list grants to the ids that the caller's connection has proved.
 *
 * <p>Both may be long, and one request, or the events of one change, can ask about the same lists very often. So the
 * ids are looked at once and not for each entry, and what a long list grants is remembered. Equal lists of a state are
 * one object, and the answer depends on list and ids alone. Not thread-safe.
 */
public class Caller {
    /** So many are compared one by one. */
    private static final int FEW_IDS = 4;

    /** A list of so many entries is looked at again each time. */
    private static final int FEW_ENTRIES = 8;

    /** What is remembered must not fill the memory. */
    private static final int MOST_REMEMBERED = 1_000;

    private static final int EVERYTHING = -1;

    private final List<AuthId> ids;

    /** The ids that an entry must be equal to; null before any list was looked at. */
    private @Nullable Collection<AuthId> persons;

    private boolean isSuper;
    private @Nullable List<byte[]> addresses;
    private @Nullable IdentityHashMap<ZnodeAcl, Integer> remembered;

    /** One with these ids, which must not change. */
    public Caller(List<AuthId> ids) {
        this.ids = ids;
    }

    /**
     * Whether the caller holds a permission.
     *
     * @param permissions {@link PermissionBits} bits, any one of which suffices
     */
    public boolean may(ZnodeAcl acl, int permissions) {
        return acl.equals(ZnodeAcl.OPEN) || (grantedBy(acl) & permissions) != 0;
    }

    void check(ZnodeAcl acl, int permissions) {
        if (!may(acl, permissions)) {
            throw TreeException.of(TreeError.NO_AUTH);
        }
    }

    private int grantedBy(ZnodeAcl acl) {
        if (acl.entries().size() <= FEW_ENTRIES) {
            return look(acl);
        }
        IdentityHashMap<ZnodeAcl, Integer> known = remembered;
        if (known == null) {
            known = new IdentityHashMap<>(2);
            remembered = known;
        }
        Integer granted = known.get(acl);
        if (granted == null) {
            granted = look(acl);
            if (known.size() < MOST_REMEMBERED) {
                known.put(acl, granted);
            }
        }
        return granted;
    }

    /** What it grants, without a look at what is remembered. */
    int look(ZnodeAcl acl) {
        Collection<AuthId> proved = persons();
        if (isSuper || acl.entries().isEmpty()) {
            return EVERYTHING;
        }
        int granted = 0;
        for (AclEntry entry : acl.entries()) {
            if (entry.id().equals(AuthId.ANYONE) || proved.contains(entry.id())) {
                granted |= entry.permissions();
            }
        }
        for (ZnodeAcl.IpGrant grant : acl.ipGrants()) {
            if (isIn(grant.range())) {
                granted |= grant.permissions();
            }
        }
        return granted;
    }

    private Collection<AuthId> persons() {
        Collection<AuthId> known = persons;
        if (known == null) {
            List<AuthId> found = new ArrayList<>(ids.size());
            for (AuthId id : ids) {
                isSuper |= id.isSuper();
                if (IdScheme.of(id.scheme()).filter(IdScheme::isOfPerson).isPresent()) {
                    found.add(id);
                }
            }
            known = found.size() > FEW_IDS ? new HashSet<>(found) : found;
            persons = known;
        }
        return known;
    }

    private boolean isIn(IpRange range) {
        for (byte[] address : addresses()) {
            if (range.contains(address)) {
                return true;
            }
        }
        return false;
    }

    private List<byte[]> addresses() {
        List<byte[]> known = addresses;
        if (known == null) {
            known = new ArrayList<>(1);
            for (AuthId id : ids) {
                byte[] address = id.scheme().equals(IdScheme.IP.word()) ? IpRange.address(id.id()) : null;
                if (address != null) {
                    known.add(address);
                }
            }
            addresses = known;
        }
        return known;
    }
}
