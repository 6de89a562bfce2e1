package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class UnreadBytesTest {
    private static final int OF_CONNECTION = 100;
    private static final int OF_ALL = 240;
    private static final int FOR_LONG = 120;

    private final ManualTimeSource time = new ManualTimeSource();
    private final LimitGuard guard = new LimitGuard(
            ClientLimits.defaults()
                    .with(ClientLimit.UNREAD_BYTES_OF_CONNECTION, OF_CONNECTION)
                    .with(ClientLimit.UNREAD_BYTES, OF_ALL)
                    .with(ClientLimit.UNREAD_BYTES_FOR_LONG_ANSWERS, FOR_LONG),
            time);
    private final UnreadBytes unread = new UnreadBytes(guard, time);
    private final List<String> events = new ArrayList<>();

    private UnreadBytes.Client client(String name) {
        return unread.client(name, () -> events.add(name + " is cut"));
    }

    private UnreadBytes.Client client(String name, long bytes) {
        UnreadBytes.Client client = client(name);
        client.has(bytes, 0);
        return client;
    }

    private UnreadBytes.Answer answer(String name) {
        return unread.answer(() -> events.add(name + " goes on"));
    }

    @Test
    void aClientThatHasMoreToReadThanOneMayIsCut() {
        UnreadBytes.Client client = client("one", OF_CONNECTION);
        assertFalse(client.isCut());
        client.has(OF_CONNECTION + 1, 0);
        assertTrue(client.isCut());
        assertEquals(List.of("one is cut"), events);
        assertEquals(1, guard.count(ClientLimit.UNREAD_BYTES_OF_CONNECTION));
        assertEquals(0, guard.unreadBytes());
    }

    @Test
    void beyondTheLimitOfAllTheClientWithTheMostToReadIsCut() {
        UnreadBytes.Client small = client("small", 70);
        UnreadBytes.Client large = client("large", 90);
        UnreadBytes.Client next = client("next", 80);
        assertEquals(List.of(), events);
        small.has(71, 0);
        assertEquals(List.of("large is cut"), events);
        assertEquals(1, guard.count(ClientLimit.UNREAD_BYTES));
        assertEquals(151, guard.unreadBytes());
        large.has(100, 0);
        assertEquals(151, guard.unreadBytes(), "it counts for nothing any more");
        small.has(0, 0);
        next.has(0, 0);
        assertEquals(0, guard.unreadBytes());
    }

    @Test
    void aClientThatReadsIsNotCutForOthersThatDoNot() {
        UnreadBytes.Client reads = client("reads", 100);
        client("idle", 40);
        time.advance(Duration.ofMillis(100));
        reads.hasTaken(99, 0);
        client("new", 100);
        client("last", 2);
        assertEquals(List.of("idle is cut"), events);
    }

    @Test
    void aLongAnswerWaitsUntilClientsHaveRead() {
        UnreadBytes.Client one = client("one", 70);
        UnreadBytes.Client two = client("two", 70);
        assertFalse(answer("answer").goesOn(0));
        assertEquals(1, guard.count(ClientLimit.UNREAD_BYTES_FOR_LONG_ANSWERS));
        one.has(60, 0);
        assertEquals(List.of(), events);
        two.hasTaken(60, 0);
        assertEquals(List.of("answer goes on"), events);
    }

    @Test
    void aLongAnswerWaitsUntilAClientIsGone() {
        client("one", 70);
        UnreadBytes.Client two = client("two", 70);
        assertFalse(answer("answer").goesOn(0));
        two.has(0, 0);
        assertEquals(List.of("answer goes on"), events);
    }

    @Test
    void answersThatGrowTogetherDoNotWaitForEachOther() {
        UnreadBytes.Answer first = answer("first");
        UnreadBytes.Answer second = answer("second");
        UnreadBytes.Answer third = answer("third");
        assertTrue(first.goesOn(60));
        assertTrue(second.goesOn(60));
        assertTrue(second.goesOn(61), "one of them may grow");
        assertFalse(first.goesOn(61));
        assertFalse(third.goesOn(0));
        assertTrue(second.goesOn(300));
        second.end();
        assertEquals(List.of("first goes on", "third goes on"), events);
    }

    @Test
    void theOneThatMayGrowHasToWaitForClientsAndIsTheFirstToGoOn() {
        UnreadBytes.Answer first = answer("first");
        UnreadBytes.Answer second = answer("second");
        assertTrue(first.goesOn(130));
        assertFalse(second.goesOn(0));
        UnreadBytes.Client one = client("one", 65);
        UnreadBytes.Client two = client("two", 65);
        assertFalse(first.goesOn(140));
        one.has(50, 0);
        assertEquals(List.of("first goes on"), events);
        two.has(0, 0);
        assertEquals(List.of("first goes on"), events, "the other one has still no room");
        first.end();
        assertEquals(List.of("first goes on", "second goes on"), events);
    }

    @Test
    void aClientThatWaitsForItsOwnLongAnswerIsNotCut() {
        client("idle", 90);
        client("idle too", 40);
        UnreadBytes.Client waits = client("waits");
        waits.has(0, 60); // events behind the answer
        assertFalse(answer("its answer").goesOn(0));
        time.advance(UnreadBytes.PATIENCE);
        assertEquals(List.of("idle is cut", "idle too is cut", "its answer goes on"), events);
        client("next", 100);
        client("last", 30);
        assertFalse(answer("another answer").goesOn(0));
        time.advance(UnreadBytes.PATIENCE);
        assertEquals("next is cut", events.get(3));
        assertFalse(waits.isCut());
    }

    @Test
    void answersWhoseClientsHoldMuchGoOnOneByOne() {
        UnreadBytes.Client idle = client("idle", 100);
        UnreadBytes.Answer first = answer("first");
        UnreadBytes.Answer second = answer("second");
        assertTrue(first.goesOn(0));
        assertTrue(second.goesOn(0));
        assertTrue(first.goesOn(30));
        assertFalse(second.goesOn(30));
        UnreadBytes.Client one = client("one");
        UnreadBytes.Client two = client("two");
        one.has(0, 70); // events behind its answer
        two.has(0, 70);
        time.advance(UnreadBytes.PATIENCE);
        assertTrue(idle.isCut());
        assertTrue(first.goesOn(40), "else they would wait for each other");
        one.has(60, 0);
        first.end();
        assertEquals(List.of("idle is cut", "second goes on"), events);
    }

    @Test
    void theTimeOfAWaitIsNotThatOfAClientThatDoesNotRead() {
        UnreadBytes.Client waits = client("waits");
        waits.has(0, 60);
        time.advance(UnreadBytes.LONGEST_BEHIND.plusSeconds(1));
        waits.has(60, 0); // its answer has ended, and it can read
        client("idle", 90);
        assertFalse(answer("another answer").goesOn(0));
        time.advance(UnreadBytes.PATIENCE.minusMillis(1));
        waits.hasTaken(59, 0);
        time.advance(Duration.ofMillis(1));
        assertEquals(List.of("idle is cut", "another answer goes on"), events);
    }

    @Test
    void anAnswerThatWillNotBeSentWaitsNoLonger() {
        UnreadBytes.Client one = client("one", 70);
        client("two", 70);
        UnreadBytes.Answer first = answer("first");
        assertFalse(first.goesOn(0));
        assertFalse(answer("second").goesOn(0));
        first.end();
        first.end();
        one.has(0, 0);
        assertEquals(List.of("second goes on"), events);
    }

    @Test
    void whileALongAnswerWaitsAClientThatTakesNothingIsCut() {
        client("idle", 70);
        UnreadBytes.Client reads = client("reads", 100);
        assertFalse(answer("answer").goesOn(0));
        for (int i = 0; i < 5; i++) {
            time.advance(UnreadBytes.PATIENCE.dividedBy(6));
            reads.hasTaken(99 - i, 0);
        }
        assertEquals(List.of(), events);
        time.advance(UnreadBytes.PATIENCE.dividedBy(5));
        assertEquals(List.of("idle is cut", "answer goes on"), events);
        assertEquals(1, guard.count(ClientLimit.UNREAD_BYTES));
    }

    @Test
    void whileNoLongAnswerWaitsNoClientIsCutForTakingNothing() {
        client("idle", 100);
        client("other", 100);
        time.advance(Duration.ofHours(1));
        assertEquals(List.of(), events);
    }

    @Test
    void whileALongAnswerWaitsAClientThatTakesAByteNowAndThenIsCutInTheEnd() {
        UnreadBytes.Client slow = client("slow", 95);
        UnreadBytes.Client other = client("other", 95);
        assertFalse(answer("answer").goesOn(0));
        Duration pause = UnreadBytes.PATIENCE.dividedBy(2);
        for (int i = 1; i < UnreadBytes.LONGEST_BEHIND.dividedBy(pause); i++) {
            time.advance(pause);
            slow.hasTaken(94, 0);
            other.hasTaken(94, 0);
        }
        assertEquals(List.of(), events);
        time.advance(pause);
        assertEquals(List.of("slow is cut", "other is cut", "answer goes on"), events);
    }

    @Test
    void zeroMeansNoBound() {
        ClientLimits limits = ClientLimits.defaults();
        for (ClientLimit limit : ClientLimit.values()) {
            limits = limits.with(limit, 0);
        }
        UnreadBytes unbounded = new UnreadBytes(new LimitGuard(limits, time), time);
        UnreadBytes.Client client = unbounded.client("one", () -> events.add("cut"));
        client.has(Long.MAX_VALUE / 4, 0);
        assertTrue(unbounded.answer(() -> {}).goesOn(Long.MAX_VALUE / 4));
        assertEquals(List.of(), events);
    }

    /** Loops of their own, each with clients that are slow and answers that wait. */
    @Test
    void fromSeveralThreadsNothingIsLeftOverAndNoAnswerWaitsWithoutEnd() {
        List<CompletableFuture<?>> loops = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Random random = new Random(i);
            loops.add(CompletableFuture.runAsync(
                    () -> {
                        for (int round = 0; round < 500; round++) {
                            makeAndRead(random);
                        }
                    },
                    task -> new Thread(task, "loop").start()));
        }
        CompletableFuture.allOf(loops.toArray(CompletableFuture<?>[]::new)).join();
        assertEquals(0, guard.unreadBytes());
        assertTrue(answer("last").goesOn(FOR_LONG));
    }

    private void makeAndRead(Random random) {
        UnreadBytes.Client client = unread.client("client", () -> {});
        MadeAnswer answer = new MadeAnswer();
        int size = random.nextInt(OF_CONNECTION);
        for (int bytes = 0; bytes <= size; bytes += 10) {
            answer.grow(bytes);
        }
        client.has(size, 0);
        answer.room.end();
        client.hasTaken(size / 2, 0);
        client.has(0, 0);
    }

    private final class MadeAnswer {
        private volatile CountDownLatch mayGoOn = new CountDownLatch(0);
        final UnreadBytes.Answer room = unread.answer(() -> mayGoOn.countDown());

        void grow(int bytes) {
            mayGoOn = new CountDownLatch(1);
            while (!room.goesOn(bytes)) {
                try {
                    mayGoOn.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                mayGoOn = new CountDownLatch(1);
            }
        }
    }
}
