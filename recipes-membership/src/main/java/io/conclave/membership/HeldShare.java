package io.conclave.membership;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.LossReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.GetData;
import io.conclave.spi.SerialExecutor;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member's part in a partitioner: it claims what is assigned to it, and gives back what is not.
 *
 * <p>It claims nothing unless it is in the group: what is assigned to its id may be that of another process, which has
 * the id. After a lost session it claims nothing before it has read the assignment anew: others may have its share by
 * then.
 *
 * <p>The mirror tells only that the assignment has changed. Each time the assignment is read, behind a sync and one
 * read at a time, so the last answer is the newest one, and no zxids are compared: those of a store that began anew, or
 * went back, are smaller than those of the store before.
 *
 * <p>All state belongs to one queue on the listener threads ({@link #execute}), where nothing blocks; the listener is
 * called from a queue for each partition.
 */
final class HeldShare implements PartitionShare {
    private static final Logger LOG = LoggerFactory.getLogger(HeldShare.class);

    private final Coordinator coordinator;
    private final Partitioner partitioner;
    private final String id;
    private final PartitionListener listener;
    private final RecipeSession firstSession;
    private final SerialExecutor queue;
    private final GroupView<String> view;
    private final Mirror mirror;
    private final Proposals proposals;
    private final HeldMembership<String> membership;
    private final CompletableFuture<LossReason> over = new CompletableFuture<>();
    private final Map<String, SerialExecutor> callbacks = new ConcurrentHashMap<>();
    private final SortedMap<String, PartitionGrant> held = new ConcurrentSkipListMap<>();
    // All below belongs to the queue.
    private final Map<String, PartitionClaim> claims = new HashMap<>();
    private SortedSet<String> assigned = new TreeSet<>();
    private volatile Assignment latest = Assignment.NONE; // written there only
    private boolean isReading;
    private boolean isToBeReadAgain; // it may have changed behind the read that is under way
    private boolean isRefusalLogged; // of the reads
    private boolean isLeaving;
    private boolean hasLeft;
    private LossReason reason = LossReason.RELEASED;

    HeldShare(Coordinator coordinator, Partitioner partitioner, String id, PartitionListener listener) {
        this.coordinator = coordinator;
        this.partitioner = partitioner;
        this.id = id;
        this.listener = listener;
        this.firstSession = RecipeAccess.session(coordinator);
        this.queue = newQueue("share of " + id + " in " + partitioner.path());
        Group<String> group = partitioner.members();
        this.membership = group.enter(id, ""); // first: it refuses a bad id
        this.view = group.view();
        this.mirror = Mirror.of(coordinator, partitioner.assignmentPath(), MirrorScope.NODE);
        this.proposals = new Proposals(this, group, partitioner, () -> latest);
    }

    private SerialExecutor newQueue(String name) {
        return firstSession.listenerThreads(name);
    }

    void begin() {
        mirror.listen(changes -> execute(this::readAssignment));
        view.onChange(update -> {
            if (!update.joined().isEmpty() || !update.left().isEmpty()) {
                execute(this::propose);
            }
        });
        membership.onStateChange(state -> execute(this::onMember));
        execute(this::onMember); // it may have joined before that
        membership.ended().thenAccept(end -> execute(() -> onNoMember(end)));
    }

    /** In the group, for the first time or again; or not, then nothing is to be done. */
    private void onMember() {
        if (isMember()) {
            propose();
            goOn();
        }
    }

    boolean isMember() {
        return membership.state() == MembershipState.MEMBER;
    }

    private void propose() {
        if (isMember()) {
            proposals.begin();
        }
    }

    void execute(Runnable task) {
        queue.execute(task);
    }

    RecipeSession session() {
        return RecipeAccess.session(coordinator);
    }

    PartitionListener listener() {
        return listener;
    }

    NodePath line(String partition) {
        return partitioner.line(partition);
    }

    @Override
    public String id() {
        return id;
    }

    private void onAssignment(String text) {
        Assignment.parse(text).ifPresentOrElse(assignment -> latest = assignment, () -> {
            LOG.warn("{} is no assignment; it is written anew", partitioner.assignmentPath());
            propose();
        });
        if (!latest.owners().keySet().equals(partitioner.partitions())) {
            LOG.warn(
                    "{}: the assignment has other partitions than this member was given; those of the first member"
                            + " count",
                    this);
        }
        assigned = latest.of(id);
        if (!latest.isFor(knownMembers(), partitioner.partitions())
                || !latest.members().contains(id)) {
            propose();
        }
        goOn();
    }

    /** A member that was slow to write may have made the assignment among former members, when no event tells so. */
    private Set<String> knownMembers() {
        GroupSnapshot<String> group = view.snapshot();
        return group.number() == 0 ? latest.members() : group.byId().keySet();
    }

    /** Claims what is assigned, and gives back what is not. */
    private void goOn() {
        for (Map.Entry<String, PartitionClaim> claim : List.copyOf(claims.entrySet())) {
            if (isLeaving || !assigned.contains(claim.getKey())) {
                claim.getValue().leave();
            }
        }
        if (isLeaving) {
            endIfAllIsGivenBack();
            return;
        }
        for (String partition : assigned) {
            if (isMember() && !isReading && !claims.containsKey(partition)) {
                PartitionClaim claim = new PartitionClaim(
                        this,
                        partition,
                        callbacks.computeIfAbsent(partition, first -> newQueue("work on " + line(first))));
                claims.put(partition, claim);
                claim.begin();
            }
        }
    }

    void onHeld(String partition, PartitionGrant grant) {
        held.put(partition, grant);
    }

    void onHeldNoMore(String partition, PartitionGrant grant) {
        held.remove(partition, grant);
    }

    /** The claim has ended, and nothing of it is left. Any thread. */
    void onEnded(PartitionClaim claim, String partition, LossReason why) {
        execute(() -> {
            claims.remove(partition, claim);
            if (why == LossReason.SESSION_LOST) {
                readAssignment();
            }
            if (why != LossReason.COORDINATOR_CLOSED) {
                goOn();
            } else {
                onNoMember(why);
            }
        });
    }

    /** The claim was not granted. Any thread. */
    void onFailed(PartitionClaim claim, String partition, Throwable cause) {
        if (cause instanceof ClosedException) {
            onEnded(claim, partition, LossReason.COORDINATOR_CLOSED);
        } else if (cause instanceof SessionGoneException) {
            onEnded(claim, partition, LossReason.SESSION_LOST);
        } else {
            LOG.warn("{}: cannot get {}, trying on: {}", this, partition, cause.getMessage());
            session().time().schedule(Retry.delay(cause), () -> onEnded(claim, partition, LossReason.REFUSED));
        }
    }

    /** Nothing is claimed before its answer. */
    private void readAssignment() {
        isToBeReadAgain = isReading;
        if (isReading || isLeaving) {
            return;
        }
        isReading = true;
        RecipeAccess.read(coordinator, GetData.of(partitioner.assignmentPath()).linearizable())
                .whenComplete((node, failure) -> execute(() -> {
                    if (failure == null) {
                        isRefusalLogged = false;
                        onRead();
                        onAssignment(node.bytes().text());
                    } else {
                        onNotRead(Waiting.cause(failure));
                    }
                }));
    }

    private void onRead() {
        isReading = false;
        if (isToBeReadAgain) {
            readAssignment();
        }
    }

    private void onNotRead(Throwable cause) {
        if (Failures.isNoNode(cause)) { // nobody has written one, or it was deleted
            onRead();
            propose();
            goOn();
        } else if (cause instanceof ClosedException) {
            isReading = false;
            goOn();
        } else {
            if (cause instanceof RefusedException && !isRefusalLogged) {
                isRefusalLogged = true;
                LOG.warn("{}: cannot read the assignment, trying on: {}", this, cause.getMessage());
            }
            session()
                    .time()
                    .schedule(
                            Retry.delay(cause),
                            () -> execute(() -> {
                                isReading = false;
                                readAssignment();
                            }));
        }
    }

    // So far the share is claimed. From here on, its end.

    private void onNoMember(LossReason why) {
        hasLeft = true;
        if (!isLeaving) {
            reason = why;
        }
        leave();
    }

    private void leave() {
        if (!isLeaving) {
            isLeaving = true;
            proposals.close();
            view.close();
            mirror.close();
            membership.closeAsync(); // and tells when nothing is left, also of a join that is under way
        }
        goOn();
    }

    private void endIfAllIsGivenBack() {
        if (claims.isEmpty() && hasLeft) {
            over.complete(reason);
        }
    }

    @Override
    public SortedMap<String, PartitionGrant> held() {
        SortedMap<String, PartitionGrant> now = new TreeMap<>();
        held.forEach(now::put); // the constructor for sorted maps fails if an entry goes meanwhile
        return Collections.unmodifiableSortedMap(now);
    }

    @Override
    public CompletableFuture<LossReason> ended() {
        return firstSession.onListenerThread("end of " + this, over);
    }

    @Override
    public void close() {
        if (callbacks.values().stream().anyMatch(SerialExecutor::isCurrent)) {
            throw new IllegalStateException(
                    "A listener that closes " + this + " would wait for itself; use closeAsync()");
        }
        execute(this::leave);
        Waiting.awaitUninterruptibly(session(), over);
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        execute(this::leave);
        return firstSession.onListenerThread("end of " + this, over.thenRun(() -> {}));
    }

    @Override
    public String toString() {
        return "PartitionShare[" + id + " of " + partitioner.path() + ", holds " + held.keySet() + "]";
    }
}
