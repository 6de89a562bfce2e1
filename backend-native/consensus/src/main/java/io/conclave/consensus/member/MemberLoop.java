package io.conclave.consensus.member;

import io.conclave.consensus.LogException;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.store.LogStore;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One member of the cluster, on a thread of its owner: {@link #start}, the inputs, {@link #turn} and
 * {@link #nextTurnMs} are called on the one thread that owns the member; a simulator calls them itself. What has
 * arrived is put in first, then one turn deals with all of it, with one synced write.
 *
 * <p>This class starts and ends the member and is its interface to other threads; {@link Replication} is what it does
 * while it works.
 */
public final class MemberLoop {
    private static final Logger log = LoggerFactory.getLogger(MemberLoop.class);
    private static final UUID NO_CLUSTER = new UUID(0, 0);

    private final LogOptions options;
    private final StoreFactory stores;
    private final CoreFactory cores;
    private final PeerLinks links;
    private final LongSupplier random;
    private final ProposalQueue queue;
    private final CompletableFuture<@Nullable Void> recovered = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

    /** Written by the member's thread. */
    private volatile LogStatus status;

    private volatile boolean closing;

    // ---- the member's thread only

    /** Where a member says that it belongs. */
    private record Link(UUID clusterId, long directory) {}

    /** Until this member belongs to a cluster: by member that there is a link to. */
    private final Map<Integer, Link> linksBefore = new TreeMap<>();

    private LogRole role = LogRole.NEW;
    private @Nullable StateMachine machine;
    private LogListener listener = LogListener.NONE;
    private @Nullable LogStore store;
    private @Nullable Replication replication;

    /**
     * @param random nonces and the seed of the core's jitter
     * @param wake called, on any thread, when there is something for a turn to do
     */
    public MemberLoop(
            LogOptions options,
            StoreFactory stores,
            CoreFactory cores,
            PeerLinks links,
            LongSupplier random,
            Runnable wake) {
        this.options = options;
        this.stores = stores;
        this.cores = cores;
        this.links = links;
        this.random = random;
        this.queue = new ProposalQueue(options.maxQueuedEntries(), options.maxQueuedBytes(), wake);
        this.status = LogStatus.idle(options.memberId(), LogRole.NEW);
    }

    // ---- any thread

    /** See {@link io.conclave.consensus.ReplicatedLog#propose}. */
    public boolean propose(Proposal proposal) {
        LogEntryKind kind = proposal.kind();
        if (kind != LogEntryKind.APPLICATION && kind != LogEntryKind.FEATURE_LEVEL) {
            throw new IllegalArgumentException("a proposal cannot be of kind " + kind);
        }
        byte[] payload = proposal.payload();
        if (payload.length > options.maxEntryBytes()) {
            throw new IllegalArgumentException("the payload has " + payload.length + " bytes; at most "
                    + options.maxEntryBytes() + " are allowed (maxEntryBytes)");
        }
        if (kind == LogEntryKind.FEATURE_LEVEL && payload.length != Integer.BYTES) {
            throw new IllegalArgumentException("a feature level has four bytes, not " + payload.length);
        }
        return queue.offer(new ProposalQueue.Proposed(kind, payload, proposal, queue.leadingTerm()));
    }

    /** See {@link io.conclave.consensus.ReplicatedLog#readBarrier}. */
    public boolean readBarrier(Runnable action) {
        return queue.offer(new ProposalQueue.Read(new byte[0], true, action));
    }

    /** See {@link io.conclave.consensus.ReplicatedLog#readIndex}. */
    public boolean readIndex(byte[] note, Runnable action) {
        return queue.offer(new ProposalQueue.Read(note, false, action));
    }

    /** See {@link io.conclave.consensus.ReplicatedLog#tell}. */
    public void tell(int member, byte[] note) {
        if (note.length > options.maxEntryBytes()) {
            throw new IllegalArgumentException("the note has " + note.length + " bytes; at most "
                    + options.maxEntryBytes() + " are allowed (maxEntryBytes)");
        }
        queue.control(() -> {
            Replication working = working();
            if (working != null) {
                working.tell(member, note);
            }
        });
    }

    /** See {@link io.conclave.consensus.ReplicatedLog#change}. */
    public CompletionStage<Long> change(MembershipChange change, long knownIndex) {
        CompletableFuture<Long> done = new CompletableFuture<>();
        queue.control(() -> ifWorking(done, member -> member.change(change, knownIndex, done)));
        return done;
    }

    /** See {@link io.conclave.consensus.ReplicatedLog#transferLeadership}. */
    public CompletionStage<@Nullable Void> transferLeadership(int member) {
        CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
        queue.control(() -> ifWorking(done, working -> working.transfer(member, done)));
        return done;
    }

    private void ifWorking(CompletableFuture<?> done, Consumer<Replication> action) {
        Replication working = working();
        if (working == null) {
            done.completeExceptionally(new LogException("the log does not work: it is " + role));
        } else {
            action.accept(working);
        }
    }

    /** See {@link io.conclave.consensus.ReplicatedLog#status}. */
    public LogStatus status() {
        return status;
    }

    /** Completes when the directory has been read, or with why it could not be. */
    public CompletionStage<@Nullable Void> recovered() {
        return recovered;
    }

    /** Completes when {@link io.conclave.consensus.ReplicatedLog#start} may return, or with why it fails. */
    public CompletionStage<@Nullable Void> ready() {
        return ready;
    }

    /** Completes when the member has closed or failed. */
    public CompletionStage<@Nullable Void> ended() {
        return ended;
    }

    /** Asks for the end; turns go on until {@link #ended}. */
    public void beginClosing() {
        closing = true;
        queue.control(() -> {});
    }

    /** Ends at once, as a crash would. */
    public void abandon() {
        queue.control(() -> {
            if (!hasEnded()) {
                log.info("member {} is abandoned", options.memberId());
                abort();
                ready.complete(null);
                ended.complete(null);
            }
        });
    }

    // ---- the member's thread: inputs

    /** Opens the directory, recovers, and begins to work, or to wait for a cluster. */
    public void start(StateMachine newMachine, LogListener newListener) {
        machine = newMachine;
        listener = newListener;
        try {
            LogStore opened = stores.open(queue::control);
            store = opened;
            if (opened.isMember()) {
                recover(opened);
            } else if (listsNoOther()) { // it dials nobody, so it would never join
                throw new LogException("the directory of member " + options.memberId() + " is empty, or its log was set"
                        + " aside, and it lists no other member that could take it in: add the server.N lines of the"
                        + " others to its configuration and start it again");
            } else {
                enter(LogRole.JOINING);
                log.info("member {} has an empty directory and waits for a cluster to join", options.memberId());
                publish();
                ready.complete(null);
            }
            recovered.complete(null);
        } catch (IOException | RuntimeException | Error e) {
            LogException cause = e instanceof LogException known
                    ? known
                    : new LogException("the log could not be recovered: " + e, e);
            abort();
            recovered.completeExceptionally(cause);
            ready.completeExceptionally(cause);
            ended.complete(null);
        }
    }

    private boolean listsNoOther() {
        return options.members().keySet().stream().allMatch(id -> id == options.memberId());
    }

    private Replication recover(LogStore from) throws IOException {
        enter(LogRole.RECOVERING);
        if (machine == null) {
            throw new IllegalStateException("not started");
        }
        Replication.Surroundings surroundings =
                new Replication.Surroundings(options, queue, from, links, machine, listener, random);
        Replication working = new Replication(surroundings, cores);
        replication = working;
        enter(LogRole.FOLLOWING);
        queue.begin();
        publish();
        if (!working.isOnlyVoter() || working.isSuspended()) {
            ready.complete(null);
        }
        return working;
    }

    private @Nullable Replication working() {
        return role.isWorking() ? replication : null;
    }

    /** There is a new link to the member, which says where it belongs; 0 and no cluster if its directory is empty. */
    public void linked(int member, UUID clusterId, long directory) {
        guarded(() -> {
            Replication working = working();
            if (role == LogRole.JOINING) {
                linksBefore.put(member, new Link(clusterId, directory));
                join();
            } else if (working != null) {
                working.linked(member, directory);
            }
        });
    }

    /** Joins the cluster that others belong to, if there are any; where there is no room for it, somewhat later. */
    private void join() throws IOException {
        LogStore empty = store;
        Optional<UUID> cluster = linksBefore.values().stream()
                .map(Link::clusterId)
                .filter(id -> !id.equals(NO_CLUSTER))
                .findFirst();
        if (role != LogRole.JOINING || closing || empty == null || cluster.isEmpty()) {
            return;
        }
        log.info("member {} joins cluster {}", options.memberId(), cluster.get());
        try {
            empty.adopt(cluster.get());
        } catch (DiskFullException e) {
            log.error("member {} cannot join yet: there is no room on its disk", options.memberId(), e);
            options.delayed().runAfter(options.diskRetryMs(), () -> queue.control(() -> guarded(this::join)));
            return;
        }
        Replication working = recover(empty);
        linksBefore.forEach((member, link) -> working.linked(member, link.directory()));
        linksBefore.clear();
    }

    /** The feature level in force here; 0 while that is not known. On the member's thread. */
    public int featureLevel() {
        return replication == null ? 0 : replication.featureLevel();
    }

    /** There is no link to the member. */
    public void linkDown(int member) {
        guarded(() -> {
            linksBefore.remove(member);
            Replication working = working();
            if (working != null) {
                working.linkDown(member);
            }
        });
    }

    /** What the member sent after the last message that arrived is lost. */
    public void inboundLost(int member) {
        guarded(() -> {
            Replication working = working();
            if (working != null) {
                working.inboundLost(member);
            }
        });
    }

    /** A message of the member, on a link for which it named its directory; 0 if that belonged to no cluster then. */
    public void arrived(int member, long directory, PeerMessage message) {
        guarded(() -> {
            Replication working = working();
            if (working != null) {
                working.arrived(member, directory, message);
            }
        });
    }

    private interface Guarded {
        void run() throws IOException;
    }

    private void guarded(Guarded action) {
        try {
            action.run();
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
        }
    }

    // ---- the member's thread: turns

    /** Deals with everything that is there; returns whether there was anything, and so perhaps is again. */
    public boolean turn() {
        if (hasEnded()) {
            return false;
        }
        try {
            return step();
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
            return false;
        }
    }

    private boolean step() throws IOException {
        boolean worked = runControls();
        Replication working = working();
        if (working != null) {
            worked |= working.turn();
            follow(working);
        }
        if (closing && !hasEnded()) {
            worked |= closeOn(working);
        }
        publish();
        return worked;
    }

    private void follow(Replication working) {
        if (working.isSuspended()) {
            ready.complete(null);
        }
        if (working.isLeading() && role == LogRole.FOLLOWING) {
            enter(LogRole.LEADING);
            publish(); // before a thread that waits for it looks
            ready.complete(null);
        } else if (!working.isLeading() && role == LogRole.LEADING) {
            enter(LogRole.FOLLOWING);
        }
    }

    private boolean runControls() {
        boolean worked = false;
        for (Runnable work = queue.pollControl(); work != null; work = queue.pollControl()) {
            work.run();
            worked = true;
            if (hasEnded()) {
                break;
            }
        }
        return worked;
    }

    /** Whether another turn should follow at once: the last one has not taken all that is there. */
    public boolean hasMore() {
        Replication working = working();
        return closing || !queue.isEmpty() || (working != null && working.hasMore());
    }

    /** When to make the next turn if nothing happens before, in {@link LogOptions#monotonicMs}. */
    public long nextTurnMs() {
        Replication working = working();
        return working == null ? Long.MAX_VALUE : working.nextTurnMs();
    }

    /** Whether the member has closed or failed. */
    public boolean hasEnded() {
        return role == LogRole.CLOSED || role == LogRole.FAILED;
    }

    // ---- the end

    private boolean closeOn(@Nullable Replication working) throws IOException {
        queue.end();
        if (working != null && !working.hasFinished()) {
            return false;
        }
        LogStore open = store;
        if (open != null && !open.stopped()) {
            return false;
        }
        if (working != null) {
            working.end(Rejection.CLOSED);
        }
        if (open != null) {
            open.close(true);
        }
        enter(LogRole.CLOSED);
        sweep(Rejection.CLOSED);
        publish();
        ready.complete(null);
        ended.complete(null);
        return true;
    }

    private void fail(Throwable e) {
        if (hasEnded()) {
            log.warn("member {} failed after its log had ended", options.memberId(), e);
            return;
        }
        LogException cause = EndCause.of(e, options.memberId(), store);
        log.error("the log of member {} has failed", options.memberId(), cause);
        boolean started = ready.isDone();
        abort();
        if (started) {
            options.fatal().fatal(cause);
        } else {
            ready.completeExceptionally(cause);
        }
        ended.complete(null);
    }

    private void abort() {
        queue.end();
        enter(LogRole.FAILED);
        sweep(Rejection.FAILED);
        if (replication != null) {
            replication.end(Rejection.FAILED);
        }
        if (store != null) {
            store.stopped();
            try {
                store.close(false);
            } catch (IOException | RuntimeException e) {
                log.warn("closing the log's files failed", e);
            }
        }
        publish();
    }

    /** Rejects the proposals that were never numbered. Reads that still wait are dropped. */
    private void sweep(Rejection reason) {
        for (ProposalQueue.Item item = queue.poll(); item != null; item = queue.poll()) {
            if (item instanceof ProposalQueue.Proposed proposed) {
                queue.reject(proposed, reason);
            } else {
                queue.release(item.bytes());
            }
        }
    }

    private void enter(LogRole next) {
        if (!next.mayFollow(role)) {
            throw new IllegalStateException("from " + role + " to " + next);
        }
        role = next;
    }

    private void publish() {
        status = replication == null ? LogStatus.idle(options.memberId(), role) : replication.status(role);
    }
}
