package io.conclave.locks;

import io.conclave.line.EntryKind;
import io.conclave.node.NodePath;
import java.util.List;

/**
 * Where a semaphore's znodes are: those of Curator's InterProcessSemaphoreV2, and the number of permits in between
 * where it is not fixed.
 *
 * @param path the semaphore's znode
 */
record SemaphoreLayout(NodePath path) {
    /** The kind of the children of {@link #leases()}. */
    static final EntryKind LEASE = EntryKind.curator("lease-");

    /** The admission line. */
    NodePath line() {
        return path.child("locks");
    }

    /** Its children are the permits that are out; all of them count, whatever their names, as they do for Curator. */
    NodePath leases() {
        return path.child("leases");
    }

    /** The number of permits: four bytes, big-endian, as Curator's SharedCount has it. */
    NodePath permits() {
        return path.child("permits");
    }

    /** The lease to create, to which the server appends the sequence. */
    NodePath leaseOf(String guid) {
        return leases().child(LEASE.nameOf(guid));
    }

    /** The leases of one guid among the children of {@link #leases()}. */
    List<NodePath> leasesOf(String guid, List<String> names) {
        return names.stream()
                .filter(name -> name.startsWith(LEASE.nameOf(guid)))
                .sorted()
                .map(leases()::child)
                .toList();
    }
}
