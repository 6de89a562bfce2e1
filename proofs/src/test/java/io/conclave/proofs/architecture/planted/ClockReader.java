package io.conclave.proofs.architecture.planted;

import java.time.Instant;
import java.util.Date;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Reads the time, and sleeps, in most of the ways there are. */
final class ClockReader {
    private ClockReader() {}

    static long monotonic() {
        return System.nanoTime();
    }

    static LongSupplier wallByReference() {
        return System::currentTimeMillis;
    }

    static Instant wall() {
        return Instant.now();
    }

    static Date date() {
        return new Date();
    }

    static void sleep() throws InterruptedException {
        Thread.sleep(1);
    }

    static Object timer() {
        return Executors.newScheduledThreadPool(1);
    }

    static CompletableFuture<String> timeLimit(CompletableFuture<String> stage) {
        return stage.orTimeout(1, TimeUnit.SECONDS);
    }
}
