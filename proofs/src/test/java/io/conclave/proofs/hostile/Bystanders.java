package io.conclave.proofs.hostile;

import io.conclave.proofs.ensemble.Member;
import io.conclave.protocol.AclRecord;
import io.conclave.protocol.RequestBody;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/** A client of each server that reads and writes at its ease, and how long each of its requests takes. */
final class Bystanders implements AutoCloseable {
    private static final int ADDRESS = 2;
    /** Between two rounds of requests: their rate is what a quiet client has. */
    private static final int PAUSE_MS = 5;

    private static final double MICROS_PER_MILLI = 1e3;

    private final List<Bystander> bystanders = new ArrayList<>();

    Bystanders(List<Member> members) {
        members.forEach(member -> bystanders.add(new Bystander(member)));
    }

    private static final class Bystander {
        private final Thread thread;

        // All below: @GuardedBy("this").
        private final List<Long> latenciesMicros = new ArrayList<>();
        private int failures;
        private boolean stopped;
        private boolean asks;
        private long askedNanos;

        Bystander(Member member) {
            String path = "/bystander-" + member.number();
            thread = new Thread(() -> live(member.clientPort(), path), "bystander");
            thread.setDaemon(true);
            thread.start();
        }

        private void live(int port, String path) {
            while (!isStopped()) {
                try {
                    liveOnce(port, path);
                } catch (IOException e) {
                    failed();
                }
            }
        }

        private void liveOnce(int port, String path) throws IOException {
            try (RawConnection connection = RawConnection.attached(port, ADDRESS)) {
                connection.call(Attack.create(path, new byte[10], AclRecord.OPEN));
                while (!isStopped()) {
                    timed(connection, new RequestBody.SetData(path, new byte[10], -1));
                    timed(connection, new RequestBody.GetData(path, false));
                    pause();
                }
            }
        }

        private static void pause() {
            try {
                Thread.sleep(PAUSE_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private synchronized boolean isStopped() {
            return stopped;
        }

        /** A server that has ended refuses at once, so the next attempt waits a moment. */
        private void failed() {
            synchronized (this) {
                failures++;
                asks = false;
            }
            pause();
        }

        private void timed(RawConnection connection, RequestBody request) throws IOException {
            synchronized (this) {
                asks = true;
                askedNanos = System.nanoTime();
            }
            int error = connection.call(request);
            synchronized (this) {
                asks = false;
                latenciesMicros.add(sinceAskedMicros());
                failures += error == 0 ? 0 : 1;
            }
        }

        private long sinceAskedMicros() {
            return TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - askedNanos);
        }

        /** What was answered since the last call, and how long one without an answer has waited until now. */
        synchronized int take(List<Long> all) {
            all.addAll(latenciesMicros);
            latenciesMicros.clear();
            if (asks) {
                all.add(sinceAskedMicros());
            }
            int taken = failures;
            failures = 0;
            return taken;
        }

        void stop() throws InterruptedException {
            synchronized (this) {
                stopped = true;
            }
            thread.join(TimeUnit.SECONDS.toMillis(5));
        }
    }

    /** Forgets what was measured until now. */
    void reset() {
        latencies();
    }

    /** What was measured since the last call. */
    Latencies latencies() {
        List<Long> all = new ArrayList<>();
        int failures =
                bystanders.stream().mapToInt(bystander -> bystander.take(all)).sum();
        all.sort(null);
        return new Latencies(all.size(), failures, at(all, 0.5), at(all, 0.99), at(all, 1));
    }

    private static double at(List<Long> sorted, double part) {
        int last = sorted.size() - 1;
        return last < 0 ? 0 : sorted.get((int) Math.min(last, sorted.size() * part)) / MICROS_PER_MILLI;
    }

    /** Of the requests of a window of time, in milliseconds; those that failed are counted only. */
    record Latencies(int count, int failures, double p50, double p99, double max) {
        /** The sums of the counts, the medians of p50 and p99, and the largest of all. */
        static Latencies medianOf(List<Latencies> windows) {
            return new Latencies(
                    windows.stream().mapToInt(Latencies::count).sum(),
                    windows.stream().mapToInt(Latencies::failures).sum(),
                    median(windows, Latencies::p50),
                    median(windows, Latencies::p99),
                    windows.stream().mapToDouble(Latencies::max).max().orElse(0));
        }

        private static double median(List<Latencies> windows, ToDoubleFunction<Latencies> value) {
            double[] sorted = windows.stream().mapToDouble(value).sorted().toArray();
            return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
        }

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
        for (Bystander bystander : bystanders) {
            bystander.stop();
        }
    }
}
