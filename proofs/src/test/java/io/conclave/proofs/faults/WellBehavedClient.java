package io.conclave.proofs.faults;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** Writes and reads back, one request at a time, and notes whatever disturbs it while others misbehave. */
final class WellBehavedClient implements AutoCloseable {
    private static final NodePath PATH = NodePath.of("/well-behaved");

    private final Coordinator coordinator;
    private final AtomicLong rounds = new AtomicLong();
    private final AtomicLong slowestNanos = new AtomicLong();
    private final List<String> troubles = new CopyOnWriteArrayList<>();
    private final Thread thread = new Thread(this::run, "well-behaved");
    private volatile boolean running = true;

    WellBehavedClient(String connectString) throws InterruptedException {
        coordinator = Coordinator.builder(connectString)
                .sessionTimeout(Duration.ofSeconds(10))
                .connect();
        coordinator.execute(Create.of(PATH));
        coordinator.onStateChange(state -> {
            if (running && state != SessionState.CONNECTED) {
                troubles.add("session is " + state);
            }
        });
        thread.start();
    }

    private void run() {
        while (running) {
            long value = rounds.get() + 1;
            long startNanos = System.nanoTime();
            try {
                coordinator.execute(
                        SetData.of(PATH, ByteBuffer.allocate(8).putLong(value).array()));
                long found = ByteBuffer.wrap(
                                coordinator.execute(GetData.of(PATH)).data())
                        .getLong();
                if (found != value) {
                    troubles.add("wrote " + value + ", read " + found);
                }
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) {
                if (running) {
                    troubles.add(e.toString());
                }
            }
            slowestNanos.accumulateAndGet(System.nanoTime() - startNanos, Math::max);
            rounds.set(value);
        }
    }

    Coordinator coordinator() {
        return coordinator;
    }

    long rounds() {
        return rounds.get();
    }

    List<String> troubles() {
        return List.copyOf(troubles);
    }

    long slowestMs() {
        return slowestNanos.get() / 1_000_000;
    }

    @Override
    public void close() {
        running = false;
        thread.interrupt();
        coordinator.close();
    }
}
