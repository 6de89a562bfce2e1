package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.ensemble.EnsembleLog;
import io.conclave.testkit.ManualTimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The disk hangs in the middle of a write, and does not say that it failed. */
class HungDiskTest {
    private static final Duration STEP = Duration.ofMillis(100);

    /** Where it counts how much time has passed: so that threads may take seconds meanwhile. */
    private static final Duration SHORT_STEP = Duration.ofMillis(20);

    /** 5 s by the server's rule, and as much manual time as goes by while a busy machine runs the threads that look. */
    private static final Duration STOPS_SERVING_WITHIN = Duration.ofSeconds(30);

    private final ManualTimeSource time = new ManualTimeSource();
    private final LockedDisk disk = new LockedDisk(new SimulatedDisk(1));
    private final CountDownLatch thaw = new CountDownLatch(1);
    private final CompletableFuture<LogException> givenUp = new CompletableFuture<>();

    private ConclaveServer start(ServerConfig config) {
        return ConclaveServer.start(
                config, (options, loop) -> EnsembleLog.on(disk, options), time, cause -> givenUp.complete(cause));
    }

    /** Every access to the disk waits from now on. */
    private void hang() throws InterruptedException {
        CountDownLatch hangs = new CountDownLatch(1);
        Thread holder = new Thread(
                () -> disk.with(files -> {
                    hangs.countDown();
                    awaitThaw();
                }),
                "hung-disk");
        holder.setDaemon(true);
        holder.start();
        assertTrue(hangs.await(120, TimeUnit.SECONDS));
    }

    private void awaitThaw() {
        try {
            thaw.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @AfterEach
    void letEverybodyGo() {
        thaw.countDown();
    }

    @Test
    void aReaderIsSentAwayAndServedAgainWhenTheDiskMoves() throws Exception {
        try (ConclaveServer server = start(TestServer.config().build());
                RawClient reader = RawClient.attached(TestServer.port(server), 60_000);
                RawClient writer = RawClient.attached(TestServer.port(server), 60_000);
                AutoCloseable thawing = thaw::countDown) {
            reader.call(Requests.create("/n"));
            hang();
            writer.send(Requests.set("/n", "x"));
            long hungNanos = time.monotonicNanos();
            time.advanceUntil(SHORT_STEP, () -> !server.isServing());
            assertTrue(time.monotonicNanos() - hungNanos < STOPS_SERVING_WITHIN.toNanos());
            assertTrue(reader.isClosedByServer());
            try (RawClient newcomer = new RawClient(TestServer.port(server))) {
                newcomer.sendConnect(5000);
                assertTrue(newcomer.isClosedByServer());
            }
            assertFalse(givenUp.isDone());
            thaw.countDown();
            await().until(server::isServing);
            try (RawClient newcomer = RawClient.attached(TestServer.port(server), 60_000)) {
                assertEquals(0, newcomer.call(Requests.exists("/n")).header().err());
            }
        }
    }

    /** The log finds out in the same turn in which it moves again, and the watchdog knows nothing of that. */
    @Test
    void aStateThatMayBeWrongIsNotServedAgainWhenTheDiskMoves() throws Exception {
        ScriptedLog log = new ScriptedLog();
        try (ConclaveServer server = ConclaveServer.start(
                        TestServer.config().build(), (options, loop) -> log, time, givenUp::complete);
                AutoCloseable thawing = thaw::countDown) {
            await().until(server::isServing);
            log.execute(() -> {
                awaitThaw();
                log.suspend();
            });
            time.advanceUntil(STEP, () -> !server.isServing());
            thaw.countDown();
            CountDownLatch moved = new CountDownLatch(1);
            log.execute(moved::countDown); // behind the watchdog's question
            assertTrue(moved.await(120, TimeUnit.SECONDS));
            assertFalse(server.isServing());
        }
    }

    @Test
    void aServerThatHangsForGoodIsGivenUp() throws Exception {
        try (ConclaveServer server = start(TestServer.config().build());
                RawClient writer = RawClient.attached(TestServer.port(server), 60_000);
                AutoCloseable thawing = thaw::countDown) {
            hang();
            writer.send(Requests.create("/n"));
            time.advanceUntil(STEP, givenUp::isDone);
            assertTrue(
                    givenUp.join().getMessage().contains("disk hangs"),
                    givenUp.join().getMessage());
            thaw.countDown();
        }
    }

    /** Else a process that was told to stop, or has called System.exit, would wait for the disk without end. */
    @Test
    void aServerWhoseDiskHangsWhileItIsStoppedIsGivenUp() throws Exception {
        try (ConclaveServer server = start(TestServer.config().build());
                RawClient writer = RawClient.attached(TestServer.port(server), 60_000);
                AutoCloseable thawing = thaw::countDown) {
            hang();
            writer.send(Requests.create("/n"));
            Thread stopping = new Thread(server::close, "stopping");
            stopping.start();
            await().atMost(Duration.ofMinutes(2)).until(() -> isClosingTheLog(stopping));
            time.advanceUntil(STEP, givenUp::isDone);
            assertTrue(isClosingTheLog(stopping));
            thaw.countDown();
            stopping.join(TimeUnit.MINUTES.toMillis(2));
            assertFalse(stopping.isAlive());
        }
    }

    private static boolean isClosingTheLog(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(EnsembleLog.class.getName())
                        && frame.getMethodName().equals("close"));
    }

    /** By its log's thread itself, since no client can be connected that would have it write. */
    @Test
    void aServerInsideAnApplicationStopsServingAndIsNeverGivenUp() throws Exception {
        try (ConclaveServer server =
                        start(TestServer.config().eventLoops(1).build().withoutPort());
                AutoCloseable thawing = thaw::countDown) {
            server.threads().get(1).execute(this::awaitThaw);
            time.advanceUntil(STEP, () -> !server.isServing());
            time.advanceUntil(
                    STEP.multipliedBy(20),
                    () -> time.monotonicNanos() > Duration.ofMinutes(2).toNanos());
            assertFalse(givenUp.isDone());
            thaw.countDown();
        }
    }

    @Test
    void aLongSleepOfTheWholeProcessIsNotTakenForAHungDisk() throws IOException {
        try (ConclaveServer server = start(TestServer.config().build());
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            time.suspend(Duration.ofSeconds(50));
            assertTrue(server.isServing());
            assertEquals(0, client.call(Requests.exists("/")).header().err());
        }
    }
}
