package io.conclave.proofs.campaign;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConclaveException;
import io.conclave.grant.FencedGrant;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.Member;
import io.conclave.proofs.faults.TokenGuard;
import io.conclave.testkit.history.LockHistory;
import io.conclave.testkit.proxy.FaultProxy;
import io.conclave.testkit.proxy.FaultProxy.Direction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A client that acquires something exclusive again and again, writes under its token to a guarded store while it holds
 * it, and gives it back. Its connections lead through proxies of its own, so that it can be cut off.
 */
final class GrantClient implements AutoCloseable {
    private static final Duration SESSION = Duration.ofSeconds(4);
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int WRITE_EVERY_MS = 5;

    private final String name;
    private final Source source;
    private final LockHistory history;
    private final TokenGuard guard;
    private final Random random;
    private final List<FaultProxy> proxies = new ArrayList<>();
    private final Coordinator coordinator;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread thread;
    private volatile long grants;
    private volatile long refusedWrites;
    private volatile boolean isStrict = true;

    /** What is acquired. */
    @FunctionalInterface
    interface Source {
        FencedGrant acquire(Coordinator coordinator, Duration timeout) throws InterruptedException;
    }

    /** Connects, and begins at once. */
    GrantClient(String name, Ensemble ensemble, Source source, LockHistory history, TokenGuard guard, Random random) {
        this.name = name;
        this.source = source;
        this.history = history;
        this.guard = guard;
        this.random = random;
        for (Member member : ensemble.members()) {
            proxies.add(FaultProxy.to(member.host(), member.clientPort()));
        }
        String addresses =
                proxies.stream().map(proxy -> "127.0.0.1:" + proxy.port()).collect(Collectors.joining(","));
        coordinator = Coordinator.builder(ensemble.kind().scheme() + "://" + addresses)
                .sessionTimeout(SESSION)
                .followEnsemble(false) // through the proxies only
                .connect();
        thread = new Thread(this::run, name);
        thread.start();
    }

    /** Its connections stay open and carry nothing any more. */
    void cutOff() {
        proxies.forEach(proxy -> {
            proxy.stall(Direction.TO_TARGET);
            proxy.stall(Direction.TO_CLIENT);
        });
    }

    /** Ends {@link #cutOff}. */
    void reconnect() {
        proxies.forEach(FaultProxy::restore);
    }

    private void run() {
        try {
            for (int attempt = 1; stopped.getCount() > 0; attempt++) {
                attempt(name + "-" + attempt);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void attempt(String contender) throws InterruptedException {
        history.requested(contender);
        try (FencedGrant grant = source.acquire(coordinator, PATIENCE)) {
            history.granted(contender, grant);
            isStrict &= grant.deadlineIsStrict();
            grants++;
            work(contender, grant, random.nextInt(10) == 0 ? 500 + random.nextInt(2500) : random.nextInt(20));
            if (grant.isHeld()) {
                history.released(contender);
            } else {
                history.lost(contender);
            }
        } catch (ConclaveException e) {
            history.abandoned(contender);
        }
    }

    private void work(String contender, FencedGrant grant, int holdMs) throws InterruptedException {
        for (int passedMs = 0; passedMs <= holdMs && grant.isHeld(); passedMs += WRITE_EVERY_MS) {
            if (!guard.write(grant.token(), contender)) {
                refusedWrites++;
            }
            if (stopped.await(WRITE_EVERY_MS, TimeUnit.MILLISECONDS)) {
                return;
            }
        }
    }

    long grants() {
        return grants;
    }

    /** How often its token was too old: another client had been given a larger one while it believed to be alone. */
    long refusedWrites() {
        return refusedWrites;
    }

    /** Whether all grants said that they end before anybody else can be given one. */
    boolean isStrict() {
        return isStrict;
    }

    @Override
    public void close() {
        stopped.countDown();
        try {
            thread.join(PATIENCE.toMillis());
            if (thread.isAlive()) {
                thread.interrupt();
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        coordinator.close();
        proxies.forEach(FaultProxy::close);
    }
}
