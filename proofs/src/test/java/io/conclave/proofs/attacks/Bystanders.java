package io.conclave.proofs.attacks;

import io.conclave.proofs.ensemble.Member;
import io.conclave.protocol.AclRecord;
import io.conclave.protocol.RequestBody;
import java.io.IOException;
import java.time.LocalTime;
import java.time.ZoneId;
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

    /** So many of the failures at a server and in a window are told. */
    private static final int SHOWN = 3;

    private static final double MICROS_PER_MILLI = 1e3;

    private final List<Bystander> bystanders = new ArrayList<>();

    Bystanders(List<Member> members) {
        members.forEach(member -> bystanders.add(new Bystander(member)));
    }

    private static final class Bystander {
        private final Thread thread;
        private final int server;

        // All below: @GuardedBy("this").
        private final List<Long> latenciesMicros = new ArrayList<>();
        private int failures;
        private final List<String> firstFailures = new ArrayList<>();
        private boolean stopped;
        private boolean asks;
        private long askedNanos;

        Bystander(Member member) {
            server = member.number();
            String path = "/bystander-" + server;
            thread = new Thread(() -> live(member.clientPort(), path), "bystander");
            thread.setDaemon(true);
            thread.start();
        }

        private void live(int port, String path) {
            while (!isStopped()) {
                try {
                    liveOnce(port, path);
                } catch (IOException e) {
                    failed(e);
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
        private void failed(IOException cause) {
            synchronized (this) {
                failure(cause.toString() + (asks ? ", after " + sinceAskedMicros() + " us" : ", while connecting"));
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
                if (error != 0) {
                    failure("error " + error);
                }
            }
        }

        private synchronized void failure(String what) {
            failures++;
            if (firstFailures.size() < SHOWN) {
                firstFailures.add(LocalTime.now(ZoneId.systemDefault()) + " server " + server + ": " + what);
            }
        }

        private long sinceAskedMicros() {
            return TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - askedNanos);
        }

        /** What was answered since the last call, and how long one without an answer has waited until now. */
        synchronized int take(List<Long> all, List<String> shownFailures) {
            all.addAll(latenciesMicros);
            latenciesMicros.clear();
            if (asks) {
                all.add(sinceAskedMicros());
            }
            int taken = failures;
            failures = 0;
            shownFailures.addAll(firstFailures);
            firstFailures.clear();
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
        List<String> shown = new ArrayList<>();
        int failures = bystanders.stream()
                .mapToInt(bystander -> bystander.take(all, shown))
                .sum();
        all.sort(null);
        return new Latencies(all.size(), failures, at(all, 0.5), at(all, 0.99), at(all, 1), shown);
    }

    private static double at(List<Long> sorted, double part) {
        int last = sorted.size() - 1;
        return last < 0 ? 0 : sorted.get((int) Math.min(last, sorted.size() * part)) / MICROS_PER_MILLI;
    }

    /**
     * Of the requests of a window of time, in milliseconds. Those that failed are counted, and so is each attempt to
     * connect; of the first ones it is known when and how.
     */
    record Latencies(int count, int failures, double p50, double p99, double max, List<String> firstFailures) {
        /** The sums of the counts, the medians of p50 and p99, and the largest of all. */
        static Latencies medianOf(List<Latencies> windows) {
            return new Latencies(
                    windows.stream().mapToInt(Latencies::count).sum(),
                    windows.stream().mapToInt(Latencies::failures).sum(),
                    median(windows, Latencies::p50),
                    median(windows, Latencies::p99),
                    windows.stream().mapToDouble(Latencies::max).max().orElse(0),
                    windows.stream()
                            .flatMap(window -> window.firstFailures().stream())
                            .toList());
        }

        private static double median(List<Latencies> windows, ToDoubleFunction<Latencies> value) {
            double[] sorted = windows.stream().mapToDouble(value).sorted().toArray();
            return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%6d requests, %3d failures, p50 %7.1f ms, p99 %8.1f ms, max %8.1f ms%s",
                    count,
                    failures,
                    p50,
                    p99,
                    max,
                    String.join("", firstFailures.stream().map("\n  "::concat).toList()));
        }
    }

    @Override
    public void close() throws InterruptedException {
        for (Bystander bystander : bystanders) {
            bystander.stop();
        }
    }
}
