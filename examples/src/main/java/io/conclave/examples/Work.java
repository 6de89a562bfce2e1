package io.conclave.examples;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** What the demos' processes do under a lock: something that takes its time. */
final class Work {
    private Work() {}

    static void lasts(Duration span) throws InterruptedException, ExecutionException {
        CompletableFuture<Void> over = new CompletableFuture<>();
        TimeSource.system().schedule(span, () -> over.complete(null));
        over.get();
    }
}
