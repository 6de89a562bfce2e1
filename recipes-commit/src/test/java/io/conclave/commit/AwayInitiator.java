package io.conclave.commit;

import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.RefusalReason;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.request.Create;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An initiator that is cut off, or suspended with its clock, at its beginning or behind it, while two sites and a
 * successor go on. Its clock stands unless a test moves it.
 */
final class AwayInitiator implements AutoCloseable {
    static final String PATH = "/transfers";
    static final List<String> SITES = List.of("berlin", "paris");
    static final NodePath TRANSACTION = NodePath.of(PATH + "/transactions/t1");

    private static final String WARM_UP = "sP"; // which has the hash of t1, so its record has the same parent
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration SESSION = Duration.ofSeconds(10);
    /** How far the time of the others moves at once: less than a session lives. */
    private static final Duration STEP = Duration.ofSeconds(2);
    /** Of those whose time a test moves: their heartbeats may come late on a busy machine. */
    private static final Duration LONG_SESSION = Duration.ofHours(24);

    final String store = "away-" + UUID.randomUUID();
    final ManualTimeSource time = new ManualTimeSource();
    final ManualTimeSource initiatorsTime = new ManualTimeSource();
    final Coordinator sites = connect(time, LONG_SESSION);
    final Coordinator successor = connect(time, LONG_SESSION);
    final Coordinator initiator = connect(initiatorsTime, SESSION);
    final List<String> told = new CopyOnWriteArrayList<>();
    final List<Request<?>> beginnings = new CopyOnWriteArrayList<>();
    final AtomicInteger looks = new AtomicInteger();
    private final AtomicInteger prepares = new AtomicInteger();
    private volatile Vote laterVote = Vote.COMMIT;

    AwayInitiator() {
        for (String site : SITES) {
            TwoPhaseCommit.at(sites, PATH).join(site, participant(site));
        }
        commit(successor, WARM_UP).join(); // so that the parents are there
        awaitThat(() -> store().snapshot().keySet().stream()
                .noneMatch(path -> path.toString().matches(PATH + "/(transactions|sites/[^/]*)/" + WARM_UP + ".*")));
        told.clear();
        prepares.set(0);
    }

    /** What the sites vote if they are asked a second time. */
    void vote(Vote later) {
        laterVote = later;
    }

    private Participant participant(String site) {
        return new Participant() {
            @Override
            public Vote prepare(TransactionPart transaction) {
                told.add(site + " prepare");
                return prepares.incrementAndGet() <= SITES.size() ? Vote.COMMIT : laterVote;
            }

            @Override
            public void commit(TransactionPart transaction) {
                told.add(site + " COMMIT");
            }

            @Override
            public void abort(TransactionPart transaction) {
                told.add(site + " ABORT");
            }
        };
    }

    private Coordinator connect(ManualTimeSource clock, Duration sessionTimeout) {
        return Coordinator.builder("memory:" + store)
                .timeSource(clock)
                .sessionTimeout(sessionTimeout)
                .connect();
    }

    MemoryStore store() {
        return MemoryStore.named(store);
    }

    private static boolean begins(Request<?> request) {
        return request instanceof Multi multi
                && multi.operations().size() > 4
                && multi.operations().stream()
                        .anyMatch(one ->
                                one instanceof Create create && create.path().equals(TRANSACTION));
    }

    /** The next beginning of t1 meets this, and a connection that drops with it does not come back by itself. */
    void onBeginning(RequestFate decision) {
        store().faults().reconnectAfter(Duration.ofDays(10)); // by the initiator's clock, which stands
        store().faults().intercept((session, request, number) -> {
            if (!begins(request)) {
                return RequestFate.PROCEED;
            }
            beginnings.add(request);
            return beginnings.size() == 1 ? decision : RequestFate.PROCEED;
        });
    }

    /** After the first one each beginning of t1 is refused, with a word that names its second operation. */
    void refuseLaterBeginnings(RefusalReason reason) {
        store().faults().refuse(request -> begins(request) && !beginnings.isEmpty(), reason, 1);
    }

    CompletableFuture<io.conclave.commit.Decision> commit(Coordinator by) {
        return commit(by, "t1");
    }

    private static CompletableFuture<io.conclave.commit.Decision> commit(Coordinator by, String id) {
        return TwoPhaseCommit.at(by, PATH).withVoteTimeout(Duration.ofHours(1)).commitAsync(id, new byte[] {1}, SITES);
    }

    /**
     * The transaction begins and the initiator hears of it; its next request does not arrive, nor does it come back.
     */
    void cutOffBehindTheBeginning() {
        long session = RecipeAccess.session(initiator).id();
        store().faults().reconnectAfter(Duration.ofDays(10));
        store().faults().intercept((by, request, number) -> {
            if (begins(request)) {
                beginnings.add(request);
                return RequestFate.PROCEED;
            }
            return by == session && !beginnings.isEmpty() ? RequestFate.DROP_BEFORE : RequestFate.PROCEED;
        });
    }

    /** Its first look for the transaction does not arrive, and it does not come back. */
    void cutOffWhenItLooks() {
        long session = RecipeAccess.session(initiator).id();
        store().faults().intercept((by, request, number) -> {
            if (by != session || !request.describe().startsWith("get " + TRANSACTION) || looks.getAndIncrement() > 0) {
                return RequestFate.PROCEED;
            }
            store().faults().reconnectAfter(Duration.ofDays(10));
            return RequestFate.DROP_BEFORE;
        });
    }

    /** Until all sites have voted, and only the initiator may decide. */
    void awaitVotes() {
        awaitThat(() -> SITES.stream().allMatch(site -> {
            NodeStat vote = store().snapshot().get(TRANSACTION.child("vote-" + site));
            return vote != null && vote.dataLength() > 0;
        }));
    }

    /** Lets the time of everybody else pass until the initiator's session has expired, and the sites have heard. */
    void expireInitiator() {
        long id = RecipeAccess.session(initiator).id();
        awaitWhileTimePasses(() -> !store().faults().liveSessions().contains(id));
    }

    void awaitWhileTimePasses(java.util.concurrent.Callable<Boolean> condition) {
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> {
            time.advance(STEP);
            return condition.call();
        });
    }

    static void awaitThat(java.util.concurrent.Callable<Boolean> condition) {
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(condition);
    }

    /** A successor recovers until nothing of the transaction is left. */
    void successorCleansUp() {
        awaitWhileTimePasses(() -> {
            TwoPhaseCommit.at(successor, PATH).recover();
            return !isThere(TRANSACTION) && !told.isEmpty();
        });
    }

    /** All sites have voted, the initiator's session expires, and a successor recovers until nothing is left. */
    void othersFinishWithoutTheInitiator() {
        awaitVotes();
        expireInitiator();
        successorCleansUp();
    }

    boolean isThere(NodePath path) {
        return store().snapshot().containsKey(path);
    }

    /** Everything below the path goes, as if an operator had deleted it. */
    void operatorDeletes(String path) {
        List<NodePath> all = new ArrayList<>(store().snapshot().keySet());
        all.stream().filter(one -> one.toString().matches(path)).forEach(one -> store().faults()
                .deleteAsOperator(one));
    }

    /** Time has passed for the initiator, too: it gives its session up and opens another one. */
    void initiatorComesBackWithANewSession() {
        store().faults().reconnectAfter(Duration.ZERO);
        long lost = RecipeAccess.session(initiator).id();
        initiatorsTime.advance(SESSION);
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> {
            initiatorsTime.advance(Duration.ofSeconds(1));
            long now = RecipeAccess.session(initiator).id();
            return now != 0 && now != lost;
        });
    }

    /** It was away for less than its session lives. */
    void initiatorComesBackWithItsSession() {
        store().faults().reconnectAfter(Duration.ZERO);
        store().faults().restore(RecipeAccess.session(initiator).id());
    }

    List<String> toldTo(String site) {
        return told.stream().filter(line -> line.startsWith(site)).toList();
    }

    @Override
    public void close() {
        store().faults().clear();
        List.of(initiator, successor, sites).forEach(Coordinator::close);
        MemoryStore.forget(store);
    }
}
