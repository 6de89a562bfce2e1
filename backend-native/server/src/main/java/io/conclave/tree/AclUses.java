package io.conclave.tree;

/**
 * The ACLs of a tree's nodes but for {@link ZnodeAcl#OPEN}, each once, with the number of nodes that have it: so nodes
 * share equal ones, and it is known what all of them take. Immutable; the same nodes give the same uses however they
 * came about, so a snapshot does not hold it.
 */
final class AclUses {
    static final AclUses NONE = new AclUses(PersistentMap.empty(), 0);

    /** The objects of a list, and of an entry with its two strings, without their characters. */
    private static final int LIST_BYTES = 200;

    private static final int ENTRY_BYTES = 160;

    private record Use(ZnodeAcl acl, long nodes) {}

    /** Two that share a key would be counted as one, so strangers must not be able to make such. */
    private final PersistentMap<Long, Use> uses;

    private final long bytes;

    private AclUses(PersistentMap<Long, Use> uses, long bytes) {
        this.uses = uses;
        this.bytes = bytes;
    }

    /** What all of them take on the heap, about. */
    long bytes() {
        return bytes;
    }

    /** The one that is there already, if it is equal. */
    ZnodeAcl shared(ZnodeAcl acl) {
        if (acl.equals(ZnodeAcl.OPEN)) {
            return ZnodeAcl.OPEN;
        }
        Use use = uses.get(acl.key());
        return use != null && use.acl.equals(acl) ? use.acl : acl;
    }

    /** One more node has it. */
    AclUses with(ZnodeAcl acl) {
        if (acl.equals(ZnodeAcl.OPEN)) {
            return this;
        }
        long hash = acl.key();
        Use use = uses.get(hash);
        return use == null
                ? new AclUses(uses.put(hash, new Use(acl, 1)), bytes + acl.bytes())
                : new AclUses(uses.put(hash, new Use(use.acl, use.nodes + 1)), bytes);
    }

    /** One node less has it. */
    AclUses without(ZnodeAcl acl) {
        if (acl.equals(ZnodeAcl.OPEN)) {
            return this;
        }
        long hash = acl.key();
        Use use = uses.get(hash);
        if (use == null) {
            throw new IllegalStateException("no node has " + acl);
        }
        return use.nodes == 1
                ? new AclUses(uses.remove(hash), bytes - use.acl.bytes())
                : new AclUses(uses.put(hash, new Use(use.acl, use.nodes - 1)), bytes);
    }

    /** Looks at all of the list, as {@link #bytesOf} does: a list knows both. */
    static long keyOf(ZnodeAcl acl) {
        StringBuilder text = new StringBuilder();
        for (AclEntry entry : acl.entries()) {
            String scheme = entry.id().scheme();
            text.append(entry.permissions()).append(' ').append(scheme.length()).append(' ');
            text.append(scheme)
                    .append(entry.id().id().length())
                    .append(' ')
                    .append(entry.id().id());
        }
        return SecondHash.of(text);
    }

    static long bytesOf(ZnodeAcl acl) {
        long bytes = LIST_BYTES;
        for (AclEntry entry : acl.entries()) {
            bytes += ENTRY_BYTES
                    + entry.id().scheme().length()
                    + 2L * entry.id().id().length();
        }
        return bytes;
    }
}
