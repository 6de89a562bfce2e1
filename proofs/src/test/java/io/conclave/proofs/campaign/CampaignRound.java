package io.conclave.proofs.campaign;

import io.conclave.coordinator.Coordinator;
import io.conclave.election.LeaderElection;
import io.conclave.locks.DistributedLock;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.faults.TokenGuard;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Sync;
import io.conclave.testkit.history.LockHistory;
import io.conclave.testkit.history.LockHistoryChecker;
import io.conclave.testkit.history.StoreHistory;
import io.conclave.testkit.history.StoreHistoryChecker;
import io.conclave.testkit.history.StoreHistoryChecker.FinalNode;
import io.conclave.testkit.history.StoreOperation.Outcome;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A part of a campaign with clients, znodes and histories of its own: they begin, the test lets things happen, and then
 * everything that was recorded is compared with what the ensemble holds.
 */
final class CampaignRound implements AutoCloseable {
    private static final int STORE_CLIENTS = 6;
    private static final int REGISTERS = 8;
    private static final int CONTENDERS = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration WATCH_PATIENCE = Duration.ofSeconds(10);
    /**
     * On servers whose deadlines are not strict, these are what fencing tokens are for; see
     * {@link io.conclave.grant.Grant#deadlineIsStrict}.
     */
    private static final Set<LockHistoryChecker.Rule> CAUGHT_BY_TOKENS =
            Set.of(LockHistoryChecker.Rule.OVERLAP, LockHistoryChecker.Rule.TOKEN_WENT_BACK);

    private final Ensemble ensemble;
    private final NodePath base;
    private final NodePath sequence;
    private final List<NodePath> registers;
    private final StoreHistory history = new StoreHistory();
    private final LockHistory locks = new LockHistory(TimeSource.system());
    private final LockHistory elections = new LockHistory(TimeSource.system());
    private final List<StoreClient> storeClients = new ArrayList<>();
    private final List<GrantClient> grantClients = new ArrayList<>();
    private final Coordinator judge;

    /** Creates the znodes and starts the clients. */
    CampaignRound(Ensemble ensemble, int number, Random random) throws InterruptedException {
        this.ensemble = ensemble;
        base = NodePath.of("/campaign-" + number);
        sequence = base.child("sequence");
        registers = IntStream.range(0, REGISTERS)
                .mapToObj(index -> base.child("register-" + index))
                .toList();
        judge = Coordinator.builder(ensemble.connectString())
                .sessionTimeout(PATIENCE)
                .connect();
        judge.execute(Create.of(base));
        judge.execute(Create.of(sequence));
        for (NodePath register : registers) {
            judge.execute(Create.of(register).withData(StoreClient.bytes(0)));
        }
        for (int i = 1; i <= STORE_CLIENTS; i++) {
            storeClients.add(new StoreClient(
                    "store-" + i,
                    ensemble.connectString(),
                    history,
                    registers,
                    sequence,
                    new Random(random.nextLong())));
        }
        TokenGuard lockGuard = new TokenGuard();
        TokenGuard electionGuard = new TokenGuard();
        String lock = base.child("lock").toString();
        String election = base.child("election").toString();
        for (int i = 1; i <= CONTENDERS; i++) {
            contend("locker-" + i, locks, lockGuard, random, (coordinator, timeout) -> DistributedLock.at(
                            coordinator, lock)
                    .acquire(timeout));
            contend("candidate-" + i, elections, electionGuard, random, (coordinator, timeout) -> LeaderElection.at(
                            coordinator, election)
                    .campaign(timeout));
        }
    }

    private void contend(String name, LockHistory record, TokenGuard guard, Random random, GrantClient.Source source) {
        grantClients.add(new GrantClient(name, ensemble, source, record, guard, new Random(random.nextLong())));
    }

    List<GrantClient> grantClients() {
        return grantClients;
    }

    StoreHistory history() {
        return history;
    }

    Coordinator judge() {
        return judge;
    }

    List<NodePath> registers() {
        return registers;
    }

    /** Waits until every client that sets and reads has got some more answers. */
    void awaitProgress() {
        List<Long> before = storeClients.stream().map(StoreClient::answers).toList();
        try {
            Awaitility.await()
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> IntStream.range(0, before.size())
                            .allMatch(index -> storeClients.get(index).answers() >= before.get(index) + 10));
        } catch (ConditionTimeoutException e) {
            history.violated("no progress within " + PATIENCE + " after the faults had ended:\n" + ensemble.describe());
        }
    }

    /** Ends the load. The ensemble must be healthy. */
    void stopLoad() {
        storeClients.forEach(StoreClient::stop);
        grantClients.forEach(GrantClient::close);
    }

    /** Compares what was recorded with what is there, and adds it to the totals. */
    void judge(CampaignTotals totals) throws InterruptedException {
        Map<String, FinalNode> nodes = readAll();
        awaitWatches(nodes);
        StoreHistoryChecker.check(history, nodes).forEach(violation -> totals.violations.add(base + ": " + violation));
        judgeGrants(locks, totals);
        judgeGrants(elections, totals);
        totals.rounds++;
        totals.answeredWrites += history.answeredWrites();
        totals.unknown += history.count(Outcome.UNKNOWN);
        totals.reads += history.count(Outcome.ANSWERED) - history.answeredWrites();
        totals.watchesFired += history.watchesFired();
        for (GrantClient client : grantClients) {
            totals.grants += client.grants();
            totals.refusedByToken += client.refusedWrites();
        }
        storeClients.forEach(client -> totals.sessionsLost += client.sessionsLost());
    }

    private void judgeGrants(LockHistory record, CampaignTotals totals) {
        boolean strict = grantClients.stream().allMatch(GrantClient::isStrict);
        for (LockHistoryChecker.Violation violation : LockHistoryChecker.check(record.events())) {
            if (!strict && CAUGHT_BY_TOKENS.contains(violation.rule())) {
                totals.overlapsByClock++;
            } else {
                totals.violations.add(base + ": " + violation);
            }
        }
    }

    /** Events may still be on their way when the last request is answered, but not for long. */
    private void awaitWatches(Map<String, FinalNode> nodes) {
        Map<String, Long> zxids = nodes.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().mzxid()));
        try {
            Awaitility.await().atMost(WATCH_PATIENCE).until(() -> history.allWatchesFired(zxids));
        } catch (ConditionTimeoutException e) {
            history.violated("watches are still silent after " + WATCH_PATIENCE);
        }
    }

    private Map<String, FinalNode> readAll() throws InterruptedException {
        judge.execute(Sync.of(base));
        List<NodePath> paths = new ArrayList<>(registers);
        judge.execute(GetChildren.of(sequence)).names().forEach(name -> paths.add(sequence.child(name)));
        Map<String, FinalNode> nodes = new ConcurrentHashMap<>();
        await(paths.stream()
                .map(path -> judge.submit(GetData.of(path))
                        .thenAccept(node -> nodes.put(
                                path.toString(),
                                new FinalNode(
                                        StoreClient.valueOf(node.data()),
                                        node.stat().mzxid(),
                                        node.stat().version())))
                        .toCompletableFuture())
                .toList());
        return nodes;
    }

    private static void await(List<? extends CompletableFuture<?>> stages) {
        CompletableFuture.allOf(stages.toArray(CompletableFuture[]::new))
                .orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }

    /** Ends all clients, and makes room for the next round's znodes. */
    @Override
    public void close() {
        storeClients.forEach(StoreClient::close);
        grantClients.forEach(GrantClient::close);
        try {
            await(judge.execute(GetChildren.of(sequence)).names().stream()
                    .map(name -> judge.submit(Delete.of(sequence.child(name))).toCompletableFuture())
                    .toList());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            judge.close();
        }
    }
}
