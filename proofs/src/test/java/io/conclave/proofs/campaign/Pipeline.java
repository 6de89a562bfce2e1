package io.conclave.proofs.campaign;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Request;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;

/**
 * Keeps a number of requests in flight on one session and notes how long each answer took. Requests of unknown outcome
 * are counted, and followed by others.
 */
public final class Pipeline {
    private final RecipeSession session;
    private final int inFlight;
    private final LongFunction<Request<?>> requests;
    private final BooleanSupplier goesOn;
    private final AtomicLong sequence = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private final AtomicInteger open = new AtomicInteger();
    private final CompletableFuture<Result> result = new CompletableFuture<>();
    private long[] latencies = new long[1024]; // on the dispatcher
    private int answers; // on the dispatcher

    /**
     * What a run has seen.
     *
     * @param sortedNanos how long the answers took, ascending
     * @param failures how many requests failed
     */
    public record Result(long[] sortedNanos, long failures) {
        /** What this share of the answers did not exceed. */
        public double percentileMs(double share) {
            return sortedNanos.length == 0
                    ? 0
                    : sortedNanos[Math.min(sortedNanos.length - 1, (int) (share * sortedNanos.length))] / 1e6;
        }
    }

    private Pipeline(Coordinator coordinator, int inFlight, LongFunction<Request<?>> requests, BooleanSupplier goesOn) {
        this.session = RecipeAccess.session(coordinator);
        this.inFlight = inFlight;
        this.requests = requests;
        this.goesOn = goesOn;
    }

    /** Submits so many requests, numbered from 0, and returns when all have ended. */
    public static Result run(Coordinator coordinator, int inFlight, long count, LongFunction<Request<?>> requests) {
        AtomicLong left = new AtomicLong(count);
        return begin(coordinator, inFlight, requests, () -> left.getAndDecrement() > 0)
                .join();
    }

    /** Begins to submit requests as long as it goes on; completes when all have ended. */
    public static CompletableFuture<Result> begin(
            Coordinator coordinator, int inFlight, LongFunction<Request<?>> requests, BooleanSupplier goesOn) {
        Pipeline pipeline = new Pipeline(coordinator, inFlight, requests, goesOn);
        pipeline.open.set(inFlight);
        pipeline.session.execute(pipeline::start);
        return pipeline.result;
    }

    private void start() {
        for (int i = 0; i < inFlight; i++) {
            next();
        }
    }

    private void next() {
        if (goesOn.getAsBoolean()) {
            send(requests.apply(sequence.getAndIncrement()));
        } else if (open.decrementAndGet() == 0) {
            long[] sorted = Arrays.copyOf(latencies, answers);
            Arrays.sort(sorted);
            result.complete(new Result(sorted, failures.get()));
        }
    }

    private <R> void send(Request<R> request) {
        long startNanos = System.nanoTime();
        session.send(
                request,
                answer -> {
                    if (answers == latencies.length) {
                        latencies = Arrays.copyOf(latencies, 2 * answers);
                    }
                    latencies[answers++] = System.nanoTime() - startNanos;
                    next();
                },
                failure -> {
                    failures.incrementAndGet();
                    session.execute(this::next);
                });
    }
}
