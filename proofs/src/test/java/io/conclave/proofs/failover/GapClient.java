package io.conclave.proofs.failover;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.Member;
import io.conclave.request.Create;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.proxy.FaultProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A client whose connection is to a server of choice, and may go to any other when that one is gone. It writes one
 * request after the other, and notes the longest time between two acknowledgements.
 */
final class GapClient implements AutoCloseable {
    private final Member member;
    private final List<FaultProxy> detours = new ArrayList<>();
    private final Coordinator coordinator;
    private final NodePath path;
    private final AtomicInteger disconnects = new AtomicInteger();
    private final Thread thread;
    private volatile boolean running = true;
    private volatile String failure = "";
    // All below: @GuardedBy("this").
    private long lastNanos = System.nanoTime();
    private long longestNanos;
    private long writes;

    /** Connects to this member, by refusing connections to the others until it is connected; begins at once. */
    GapClient(Ensemble ensemble, Member member, String name) {
        this.member = member;
        List<String> addresses = new ArrayList<>(List.of(member.hostPort()));
        for (Member other : ensemble.others(member)) {
            FaultProxy detour = FaultProxy.to(other.host(), other.clientPort());
            detour.refuse();
            detours.add(detour);
            addresses.add("127.0.0.1:" + detour.port());
        }
        coordinator = Coordinator.builder(ensemble.kind().scheme() + "://" + String.join(",", addresses))
                .sessionTimeout(Duration.ofSeconds(10))
                .followEnsemble(false) // through the detours only
                .connect();
        detours.forEach(FaultProxy::accept);
        coordinator.onStateChange(state -> {
            if (state == SessionState.SUSPENDED) {
                disconnects.incrementAndGet();
            } else if (state == SessionState.LOST) {
                failure = "its session was lost";
            }
        });
        path = NodePath.of("/" + name);
        thread = new Thread(this::run, name);
        thread.start();
    }

    private void run() {
        byte[] data = new byte[100];
        try {
            coordinator.execute(Create.of(path));
            while (running) {
                write(data);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            if (running) {
                failure = e.toString();
            }
        }
    }

    private void write(byte[] data) throws InterruptedException {
        try {
            coordinator.execute(SetData.of(path, data));
            acknowledged();
        } catch (OutcomeUnknownException e) {
            // the next one waits for the next connection
        } catch (RefusedException e) {
            if (e.reason() != RefusalReason.NOT_WRITABLE) {
                throw e;
            }
        }
    }

    private synchronized void acknowledged() {
        long now = System.nanoTime();
        longestNanos = Math.max(longestNanos, now - lastNanos);
        lastNanos = now;
        writes++;
    }

    /** Measures from now on. */
    synchronized void mark() {
        longestNanos = 0;
        writes = 0;
        disconnects.set(0);
    }

    /** How many writes were acknowledged since {@link #mark}, the one in flight at that time not counted. */
    synchronized long writes() {
        if (!failure.isEmpty()) {
            throw new IllegalStateException("the client on " + member + ": " + failure);
        }
        return writes - 1;
    }

    /** The moment of the last acknowledgement, on {@link System#nanoTime}. */
    synchronized long lastNanos() {
        return lastNanos;
    }

    /** The longest time between two acknowledgements since {@link #mark}. */
    synchronized double longestGapMs() {
        return longestNanos / 1e6;
    }

    int disconnects() {
        return disconnects.get();
    }

    /** Where it was connected at first. */
    Member member() {
        return member;
    }

    @Override
    public void close() {
        running = false;
        coordinator.close();
        thread.interrupt();
        detours.forEach(FaultProxy::close);
    }
}
