package io.conclave.proofs.contract;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.node.NodePath;
import io.conclave.proofs.contract.ContractBackends.Servers;
import io.conclave.request.SetData;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Three servers that vote, durable, in this JVM; the leader may be killed at intervals and comes back a little later.
 * Nothing is killed while no test runs on them: they live as long as the JVM, and each start costs others their time.
 *
 * <p>A new leader gives every session a full timeout, so where leaders die more often than that no session expires
 * ever: the interval is longer than two timeouts of the contracts that run here.
 */
final class ContractEnsemble implements Servers {
    /**
     * Of the contracts that run here: on a busy machine, with all servers and clients in one JVM, an answer may take a
     * second; {@code -Dcontract.sessionMs} makes it longer.
     */
    static final Duration SESSION_TIMEOUT = Duration.ofMillis(Integer.getInteger("contract.sessionMs", 4_000));

    /** Of those that run while no server is killed: nothing needs it to be short, so it is kept also at load 20. */
    static final Duration CALM_SESSION_TIMEOUT = SESSION_TIMEOUT.multipliedBy(2);

    private static final Duration BETWEEN_KILLS =
            SESSION_TIMEOUT.multipliedBy(2).plusMillis(500);
    /** For how long a killed server is away. */
    private static final Duration AWAY = Duration.ofMillis(500);

    private final ConclaveEnsemble ensemble;
    private final String url;
    private final CountDownLatch closed = new CountDownLatch(1);
    /** How many run on them. */
    private final AtomicInteger tests = new AtomicInteger();

    private Thread killer = new Thread(() -> {}, "no-killer");

    /** No server is killed; clients go to any server. */
    ContractEnsemble() {
        this(0);
    }

    private ContractEnsemble(int observers) {
        ensemble = ConclaveEnsemble.builder()
                .observers(observers)
                .electionTimeoutMs(1_000)
                .syncLimitTicks(30)
                .containerCheckIntervalMs(1_000)
                .start();
        url = observers == 0 ? ensemble.connectString() : ensemble.connectString(4);
    }

    static ContractEnsemble withKills() {
        return new ContractEnsemble(0).startKilling();
    }

    static ContractEnsemble withKillsBehindAnObserver() {
        return new ContractEnsemble(1).startKilling();
    }

    private ContractEnsemble startKilling() {
        killer = new Thread(this::killLeaders, "killer");
        killer.setDaemon(true);
        killer.start();
        return this;
    }

    private void killLeaders() {
        try {
            int kills = 0;
            while (!closed.await(BETWEEN_KILLS.toMillis(), TimeUnit.MILLISECONDS)) {
                if (tests.get() == 0) {
                    continue;
                }
                int leader = ensemble.awaitLeader();
                long gapMs = killAndWrite(leader);
                kills++;
                System.out.println("kill " + kills + ": server " + leader
                        + " led; a client of another server wrote again after " + gapMs + " ms");
                closed.await(AWAY.toMillis(), TimeUnit.MILLISECONDS);
                ensemble.restart(leader);
                ensemble.awaitServing(leader);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** How long it takes from the kill until a client of a surviving server has its next write acknowledged. */
    private long killAndWrite(int leader) throws InterruptedException {
        try (Coordinator survivor = Coordinator.connect(ensemble.connectString(ensemble.follower()))) {
            survivor.execute(SetData.of(NodePath.ROOT, new byte[0]));
            long killedNanos = System.nanoTime();
            ensemble.kill(leader);
            survivor.execute(SetData.of(NodePath.ROOT, new byte[0]));
            return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killedNanos);
        }
    }

    @Override
    public String url() {
        return url;
    }

    @Override
    public void begin() {
        tests.incrementAndGet();
    }

    @Override
    public void end() {
        tests.decrementAndGet();
    }

    @Override
    public void close() {
        closed.countDown();
        try {
            killer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        ensemble.close();
    }
}
