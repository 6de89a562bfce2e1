package io.conclave.shedlock;

import io.conclave.node.Bytes;
import io.conclave.node.CreateMode;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData.NodeData;
import io.conclave.request.Operation;
import io.conclave.request.SetData;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import net.javacrumbs.shedlock.support.Utils;

/**
 * A lock as one look has seen it, and the transactions that change it on condition that it is still so.
 *
 * <p>Whatever changes the lock changes the version of its record, except for the end of the holder's session. The
 * record is read first. So if a transaction on that version succeeds, nothing else than such an end has come between.
 */
record SeenLock(
        ShedLockNodes nodes, Optional<NodeData> record, Optional<NodeData> detailsNode, Optional<NodeData> holder) {
    /** Whether there is no record, nor perhaps a parent for it. */
    boolean isAbsent() {
        return record.isEmpty();
    }

    /** Our note, if nobody has written the record since; then the lock is one of ours. */
    private Optional<LockDetails> details() {
        return detailsNode
                .flatMap(node -> LockDetails.decode(node.bytes()))
                .filter(details -> record.isPresent() && record.get().stat().version() == details.version());
    }

    /** Whether that call has taken the lock and not unlocked it, and nobody has taken it since. */
    boolean isOf(String owner) {
        return details().filter(details -> details.owner().equals(owner)).isPresent();
    }

    /** Whether its holder lives. */
    private boolean hasHolder() {
        return details().map(LockDetails::owner).filter(this::isHeldBy).isPresent();
    }

    /** Whether there is the ephemeral znode of that call. */
    boolean isHeldBy(String owner) {
        return holder.filter(node -> node.bytes().text().equals(owner)).isPresent();
    }

    /** Whether the time until which it is taken at most is not over. */
    boolean isTaken(Instant now) {
        return until().filter(time -> time.isAfter(now)).isPresent();
    }

    /** Whether the lock is free for everybody. */
    boolean isFree(Instant now) {
        if (record.isEmpty()) {
            return true;
        }
        Optional<Instant> until = until();
        if (until.isEmpty()) {
            return false; // as ShedLock's own provider takes it
        }
        boolean lacksHolder = details()
                .filter(details -> details.endsWithHolder()
                        && !hasHolder()
                        && !details.atLeastUntil().isAfter(now))
                .isPresent();
        return lacksHolder || !until.get().isAfter(now);
    }

    private Optional<Instant> until() {
        try {
            return record.map(node -> Instant.parse(node.bytes().text()));
        } catch (DateTimeParseException unreadable) {
            return Optional.empty();
        }
    }

    /** The owner has the lock until then, and its session is the holder's if the lock ends with that. */
    List<Operation<?>> taken(LockDetails details, Instant until) {
        List<Operation<?>> writes = written(details, until);
        holder.ifPresent(node -> writes.add(Delete.of(nodes.holder())));
        if (details.endsWithHolder()) {
            writes.add(
                    new Create(nodes.holder(), Bytes.ofText(details.owner()), CreateMode.EPHEMERAL, Optional.empty()));
        }
        return writes;
    }

    /** The owner, which has the lock, does no longer; it is free from then on. */
    List<Operation<?>> unlocked(LockDetails details, Instant from) {
        List<Operation<?>> writes = written(details, from);
        holder.ifPresent(node -> writes.add(Delete.of(nodes.holder())));
        return writes;
    }

    /**
     * The lock is not that call's, and its holder's znode is deleted if it is there. Nothing if there is no record:
     * then the lock was taken between the reads of this look.
     */
    List<Operation<?>> withoutHolder(String owner) {
        return isHeldBy(owner) && record.isPresent()
                ? List.of(new Check(nodes.record(), record.get().stat().version()), Delete.of(nodes.holder()))
                : List.of();
    }

    /** The version that the record has once it is written. */
    int nextVersion() {
        return record.map(node -> node.stat().version() + 1).orElse(0);
    }

    private List<Operation<?>> written(LockDetails details, Instant until) {
        Bytes time = text(until);
        List<Operation<?>> writes = new ArrayList<>();
        writes.add(record.<Operation<?>>map(
                        node -> new SetData(nodes.record(), time, node.stat().version()))
                .orElseGet(() -> new Create(nodes.record(), time, CreateMode.PERSISTENT, Optional.empty())));
        writes.add(detailsNode
                .<Operation<?>>map(node -> new SetData(nodes.details(), details.encoded(), -1))
                .orElseGet(
                        () -> new Create(nodes.details(), details.encoded(), CreateMode.PERSISTENT, Optional.empty())));
        return writes;
    }

    private static Bytes text(Instant time) {
        return Bytes.ofText(Utils.toIsoString(time));
    }
}
