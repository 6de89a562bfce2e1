package io.conclave.proofs.hostile;

import io.conclave.proofs.ensemble.Member;
import io.conclave.protocol.AclRecord;
import io.conclave.protocol.RequestBody;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** A client of each server that reads and writes at its ease, and how long each of its requests takes. */
final class Bystanders implements AutoCloseable {
    private static final int ADDRESS = 2;
    /** Between two rounds of requests: their rate is what a quiet client has. */
    private static final int PAUSE_MS = 5;

    private final List<Thread> threads = new ArrayList<>();
    private final List<Long> latenciesMicros = Collections.synchronizedList(new ArrayList<>());
    private volatile int failures;
    private volatile boolean stopped;

    Bystanders(List<Member> members) {
        for (Member member : members) {
            Thread thread = new Thread(() -> live(member.clientPort(), "/bystander-" + member.number()), "bystander");
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
    }

    private void live(int port, String path) {
        while (!stopped) {
            try (RawConnection connection = RawConnection.attached(port, ADDRESS)) {
                connection.call(Attack.create(path, new byte[10], AclRecord.OPEN));
                while (!stopped) {
                    timed(connection, new RequestBody.SetData(path, new byte[10], -1));
                    timed(connection, new RequestBody.GetData(path, false));
                    Thread.sleep(PAUSE_MS);
                }
            } catch (IOException e) {
                failures++;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private void timed(RawConnection connection, RequestBody request) throws IOException {
        long since = System.nanoTime();
        int error = connection.call(request);
        latenciesMicros.add((System.nanoTime() - since) / 1000);
        if (error != 0) {
            failures++;
        }
    }

    /** Forgets what was measured until now. */
    void reset() {
        synchronized (latenciesMicros) {
            latenciesMicros.clear();
        }
        failures = 0;
    }

    /** What was measured since the last reset. */
    Latencies latencies() {
        synchronized (latenciesMicros) {
            List<Long> sorted = latenciesMicros.stream().sorted().toList();
            int count = sorted.size();
            return new Latencies(
                    count,
                    failures,
                    count == 0 ? 0 : sorted.get(count / 2) / 1e3,
                    count == 0 ? 0 : sorted.get((int) (count * 0.99)) / 1e3,
                    count == 0 ? 0 : sorted.get(count - 1) / 1e3);
        }
    }

    /** Of requests that were answered, in milliseconds; those that failed are counted only. */
    record Latencies(int count, int failures, double p50, double p99, double max) {
        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%6d requests, %3d failures, p50 %7.1f ms, p99 %8.1f ms, max %8.1f ms",
                    count,
                    failures,
                    p50,
                    p99,
                    max);
        }
    }

    @Override
    public void close() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join(5_000);
        }
    }
}
