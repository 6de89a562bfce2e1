package io.conclave.commit;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.line.Acquisition;
import io.conclave.node.NodePath;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetData;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Two-phase commit: transactions among sites, each of which is committed at all of its sites or at none, whichever
 * process dies at whatever moment.
 *
 * <pre>{@code
 * TwoPhaseCommit transfers = TwoPhaseCommit.at(coordinator, "/transfers");
 * // in a process of each site; AccountsOfBerlin is a Participant
 * Site berlin = transfers.join("berlin", new AccountsOfBerlin(database));
 * Decision decision = transfers.commit("transfer-42", order, List.of("berlin", "paris", "rome"));
 * }</pre>
 *
 * <p>The caller of {@link #commit} begins the transaction; every site finds it in its inbox, has its
 * {@link Participant} prepare, and votes. When all have voted to commit, it is committed; as soon as one votes to
 * abort, or is seen and dies without a vote, or the {@linkplain #withVoteTimeout deadline} is over, it is aborted. What
 * was decided stands in one znode, {@code decision}, that is created once: of those that would decide at the same
 * moment one wins, and all others read what it has written. A decision to commit is created in one transaction with a
 * check of every vote.
 *
 * <p>After a crash the sites decide without the coordinating process when its session ends (by what votes stand there:
 * that may be to commit), and it learns the decision on its next session, or a successor by {@link #recover}. A site
 * that joins again finds in its inbox what is in doubt, and finishes it; a vote to commit binds it. So each method of a
 * participant may be called more than once and must be idempotent. There should be one process of a site at a time; a
 * new one takes the place of a former one.
 *
 * <p>Layout: {@code <path>/transactions/<id>} is the transaction with its sites and payload; below it
 * {@code vote-<site>}, made empty by the initiator and written by the site once; {@code here-<site>} and
 * {@code coordinator}, ephemeral, so that the death of anybody is seen; {@code decision}.
 * {@code <path>/sites/<site>/<id>} is the entry in a site's inbox. A site that has finished deletes its vote and its
 * entry; the initiator deletes the rest after the last of them, and leaves the decision at
 * {@code <path>/records/<shard>/<id>} for the {@linkplain #withRetention retention}. {@code <path>/tickets} has what
 * makes a beginning happen once. Cost with n sites: one write and one transaction to begin, two writes and about eight
 * reads for each site, one write to decide, 3n reads for the coordinating process; with
 * {@link Propagation#EVERYONE_WATCHES} 3n reads for each site.
 *
 * <p>While the connection is away everything waits. Immutable and thread-safe; making one costs nothing.
 */
public final class TwoPhaseCommit {
    static final Duration DEFAULT_RETENTION = Duration.ofHours(1);

    private static final int MAX_SITES = 1_000;
    private static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);
    private static final Duration DEFAULT_VOTE_TIMEOUT = Duration.ofSeconds(30);
    /** The limit of vote timeout and retention: what is much longer does not fit into milliseconds. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final Coordinator coordinator;
    private final NodePath path;
    private final Propagation propagation;
    private final Duration voteTimeout;
    private final Duration retention;

    private TwoPhaseCommit(
            Coordinator coordinator, NodePath path, Propagation propagation, Duration voteTimeout, Duration retention) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.path = path;
        this.propagation = propagation;
        this.voteTimeout = voteTimeout;
        this.retention = retention;
    }

    /**
     * Transactions at a path.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static TwoPhaseCommit at(Coordinator coordinator, String path) {
        return at(coordinator, NodePath.of(path));
    }

    /** Transactions at a path; through the coordinator, with 30 seconds to vote. */
    public static TwoPhaseCommit at(Coordinator coordinator, NodePath path) {
        if (path.isRoot()) {
            throw new IllegalArgumentException("Invalid path of transactions \"/\": they need a znode of their own");
        }
        return new TwoPhaseCommit(
                coordinator, path, Propagation.THROUGH_COORDINATOR, DEFAULT_VOTE_TIMEOUT, DEFAULT_RETENTION);
    }

    /** The same, but transactions begun here propagate their votes that way. */
    public TwoPhaseCommit withPropagation(Propagation way) {
        return new TwoPhaseCommit(coordinator, path, Objects.requireNonNull(way, "way"), voteTimeout, retention);
    }

    /**
     * The same, but transactions begun here wait that long for votes. Counted by each process from the moment when it
     * hears of the transaction.
     */
    public TwoPhaseCommit withVoteTimeout(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("Invalid vote timeout " + timeout + ": it must be positive");
        }
        return new TwoPhaseCommit(coordinator, path, propagation, bounded(timeout), retention);
    }

    /**
     * The same, but of transactions begun here the decision is kept that long after all sites have finished; 1 hour if
     * not set. Until then {@link #decision} answers, {@link #commit} learns the truth after a lost session, and the id
     * cannot be used again. It must be longer than a process may be away and still ask. The store keeps one small znode
     * for each transaction that was finished within one and a quarter of this time. Counted by the leader's clock.
     *
     * @param time at least a minute
     */
    public TwoPhaseCommit withRetention(Duration time) {
        if (time.compareTo(SHORTEST_RETENTION) < 0) {
            throw new IllegalArgumentException(
                    "Invalid retention " + time + ": it must be at least " + SHORTEST_RETENTION);
        }
        return new TwoPhaseCommit(coordinator, path, propagation, voteTimeout, bounded(time));
    }

    private static Duration bounded(Duration time) {
        return time.compareTo(LONGEST) > 0 ? LONGEST : time;
    }

    /**
     * Takes part as a site until it is closed. Never blocks. What stands in the site's inbox from before is taken up at
     * once.
     *
     * @param name the site's name: one component of a path, without a comma
     * @param participant the site's work
     */
    public Site join(String name, Participant participant) {
        JoinedSite site = new JoinedSite(
                coordinator, path, checkedSite(name), Objects.requireNonNull(participant, "participant"));
        site.begin();
        return site;
    }

    /**
     * Begins a transaction and waits until it is decided; the sites may still be finishing then. Ends within the vote
     * timeout and what the connection takes.
     *
     * @param id a name that no transaction here has had within the {@linkplain #withRetention retention}: one component
     *     of a path. A transaction begins at most once; an id that was used is refused. A process that must know after
     *     a crash what became of its transaction uses an id that it finds again, and asks {@link #decision}
     * @param payload what it is about, for the participants
     * @param sites their names; they need not have joined yet
     * @return the decision, whichever process has made it. After a lost session it is read on the next one. If the
     *     session is lost before the transaction has begun, it does not begin any more, and that is a decision to abort
     * @throws InterruptedException if the thread is interrupted; the transaction is aborted then unless it is decided
     *     already, see {@link #decision}
     * @throws io.conclave.error.RefusedException if the id is in use or was used (NODE_EXISTS), or if the backend
     *     refuses the beginning; the transaction has not begun and will not
     * @throws io.conclave.error.OutcomeUnknownException if the transaction may have begun and its decision cannot be
     *     known: its record was deleted, or the process was away for longer than the retention, or the coordinator was
     *     closed. It is safe to call this again with the same id: if the transaction has begun, that is refused while
     *     its decision is kept
     * @throws io.conclave.error.ClosedException if the coordinator is closed and nothing was sent
     */
    public Decision commit(String id, byte[] payload, Collection<String> sites) throws InterruptedException {
        return acquisition(id, payload, sites).await();
    }

    /**
     * As {@link #commit}, without blocking. Completes on a listener thread; cancelling it aborts the transaction unless
     * it is decided.
     */
    public CompletableFuture<Decision> commitAsync(String id, byte[] payload, Collection<String> sites) {
        return acquisition(id, payload, sites).stage(decision -> {});
    }

    private Acquisition<Decision> acquisition(String id, byte[] payload, Collection<String> sites) {
        List<String> names = List.copyOf(new TreeSet<>(sites));
        names.forEach(TwoPhaseCommit::checkedSite);
        if (names.isEmpty() || names.size() > MAX_SITES) {
            throw new IllegalArgumentException(
                    "Invalid number of sites " + names.size() + ": it must be from 1 to " + MAX_SITES);
        }
        TransactionLayout layout =
                new TransactionLayout(path, NodePath.ROOT.child(id).name()); // a single component
        TransactionRecord record = new TransactionRecord(
                UUID.randomUUID().toString(), propagation, voteTimeout, retention, names, payload.clone());
        TransactionCoordinator transaction = new TransactionCoordinator(coordinator, layout, record);
        transaction.begin();
        return Acquisition.of(transaction, transaction::decision);
    }

    static String checkedSite(String name) {
        if (name.indexOf(',') >= 0 || name.indexOf('\n') >= 0) {
            throw new IllegalArgumentException(
                    "Invalid site \"" + name + "\": it must not contain a comma or a line break");
        }
        return NodePath.ROOT.child(name).name();
    }

    /**
     * What was decided, until the {@linkplain #withRetention retention} is over: it counts from when all sites have
     * finished. Empty if nothing is decided, if there was no transaction of this id, or if its decision is not kept any
     * more. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public Optional<Decision> decision(String id) throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), readDecision(id));
    }

    /** As {@link #decision}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Optional<Decision>> decisionAsync(String id) {
        return RecipeAccess.session(coordinator).onListenerThread("decision on " + id, readDecision(id));
    }

    private CompletionStage<Optional<Decision>> readDecision(String id) {
        TransactionLayout layout = new TransactionLayout(path, id);
        return read(layout.decision())
                .thenCompose(decided -> decided.isPresent()
                        ? CompletableFuture.completedFuture(decided.map(Decision::parse))
                        // In this order: the record is made in the transaction that deletes the decision.
                        : read(layout.record()).thenApply(record -> record.flatMap(DecisionRecord::parse)
                                .map(DecisionRecord::decision)));
    }

    private CompletionStage<Optional<byte[]>> read(NodePath node) {
        return Waiting.ifThere(RecipeAccess.read(coordinator, GetData.of(node)))
                .thenApply(found -> found.map(GetData.NodeData::data));
    }

    /**
     * Finishes what processes have begun whose sessions are gone: decides what is not decided, to abort unless all
     * votes to commit stand there, and deletes what all sites have finished, leaving the decision records. To be called
     * by a process that takes over the work of a coordinating process that died; may be called at any time, and by
     * many. Blocks.
     *
     * @return the decisions of all such transactions, by id
     * @throws InterruptedException if the thread is interrupted
     * @throws io.conclave.error.ConclaveException if it is refused, or the coordinator is closed
     */
    public Map<String, Decision> recover() throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), recoverAsync());
    }

    /** As {@link #recover}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Map<String, Decision>> recoverAsync() {
        Recovery recovery = new Recovery(coordinator, path);
        return RecipeAccess.session(coordinator).onListenerThread("recovering " + path, recovery.begin());
    }

    /** The transactions' znode, in the coordinator's namespace. */
    public NodePath path() {
        return path;
    }

    @Override
    public String toString() {
        return "TwoPhaseCommit[" + path + ", " + propagation + ", " + coordinator + "]";
    }
}
