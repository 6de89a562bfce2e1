package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of each addition that goes with others in one write. */
class AdditionsTest {
    private static final NodePath PATH = NodePath.of("/counter");
    private static final Duration AWAY = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int MANY = 50;

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final AtomicInteger writes = new AtomicInteger();
    private Coordinator coordinator;
    private SharedCounter counter;
    private long session;

    @BeforeEach
    void connect() throws Exception {
        coordinator = store.connect(clock);
        counter = SharedCounter.at(coordinator, PATH);
        counter.add(100);
        session = RecipeAccess.session(coordinator).id();
        faults.intercept((from, request, index) -> {
            if (request instanceof SetData) {
                writes.incrementAndGet();
            }
            return RequestFate.PROCEED;
        });
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private static boolean isRead(Request<?> request) {
        return request instanceof GetData;
    }

    private static boolean isWrite(Request<?> request) {
        return request instanceof SetData;
    }

    private List<CompletableFuture<Long>> add(int count) {
        List<CompletableFuture<Long>> calls = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            calls.add(SharedCounter.at(coordinator, PATH).incrementAsync());
        }
        return calls;
    }

    /** The first of them waits for the reply to its read, or its write. */
    private List<CompletableFuture<Long>> addWhileHeld(int count) throws Exception {
        List<CompletableFuture<Long>> calls = add(count);
        CompletableFuture<Void> entered = new CompletableFuture<>();
        RecipeAccess.session(coordinator).execute(() -> entered.complete(null)); // behind them
        get(entered);
        return calls;
    }

    private static List<Long> sums(List<CompletableFuture<Long>> calls) throws Exception {
        List<Long> sums = new ArrayList<>();
        for (CompletableFuture<Long> call : calls) {
            sums.add(get(call));
        }
        return sums;
    }

    private static List<Long> from(long first, int count) {
        return LongStream.range(first, first + count).boxed().toList();
    }

    @Test
    void additionsThatComeTogetherAreOneWriteAndEachHasItsOwnSum() throws Exception {
        faults.onNext(AdditionsTest::isRead, RequestFate.HOLD_REPLY);
        List<CompletableFuture<Long>> calls = addWhileHeld(MANY);
        faults.releaseReplies(session);
        assertEquals(from(101, MANY), sums(calls), "in the order of the calls");
        assertEquals(1, writes.get());
    }

    @Test
    void whatComesWhileAWriteIsUnderWayGoesWithTheNext() throws Exception {
        faults.onNext(AdditionsTest::isWrite, RequestFate.HOLD_REPLY);
        CompletableFuture<Long> first = counter.addAsync(10);
        await().atMost(PATIENCE).until(() -> writes.get() == 0 && counterIs(110));
        List<CompletableFuture<Long>> others = addWhileHeld(MANY);
        faults.releaseReplies(session);
        assertEquals(110, get(first));
        assertEquals(from(111, MANY), sums(others));
        assertEquals(1, writes.get(), "besides the one that met the rule");
    }

    private boolean counterIs(long value) throws InterruptedException {
        try (Coordinator other = store.connect()) {
            return SharedCounter.at(other, PATH).get() == value;
        }
    }

    @Test
    void eachHasItsSumAlthoughTheReplyWasLost() throws Exception {
        faults.onNext(AdditionsTest::isRead, RequestFate.HOLD_REPLY);
        faults.onNext(AdditionsTest::isWrite, RequestFate.DROP_AFTER);
        List<CompletableFuture<Long>> calls = addWhileHeld(MANY);
        faults.releaseReplies(session);
        assertEquals(from(101, MANY), sums(calls));
        assertEquals(100 + MANY, counter.get());
    }

    @Test
    void unknownOutcomeIsThatOfEachThatWasSentAndOfNoOther() throws Exception {
        faults.reconnectAfter(AWAY);
        faults.onNext(AdditionsTest::isRead, RequestFate.HOLD_REPLY);
        faults.onNext(AdditionsTest::isWrite, RequestFate.DROP_AFTER);
        List<CompletableFuture<Long>> sent = addWhileHeld(3);
        faults.releaseReplies(session);
        await().atMost(PATIENCE).until(() -> !faults.liveSessions().isEmpty() && isAway());
        List<CompletableFuture<Long>> behind = addWhileHeld(2);
        faults.deleteAsOperator(PATH);
        clock.advance(AWAY);
        for (CompletableFuture<Long> call : sent) {
            ExecutionException failure = assertThrows(ExecutionException.class, () -> get(call));
            assertInstanceOf(OutcomeUnknownException.class, failure.getCause());
        }
        assertEquals(from(1, 2), sums(behind));
    }

    private boolean isAway() {
        return RecipeAccess.session(coordinator).state() == io.conclave.session.SessionState.SUSPENDED;
    }

    @Test
    void callThatIsCancelledBeforeTheWriteIsLeftOut() throws Exception {
        faults.onNext(AdditionsTest::isRead, RequestFate.HOLD_REPLY);
        List<CompletableFuture<Long>> calls = addWhileHeld(3);
        calls.get(1).cancel(true);
        faults.releaseReplies(session);
        assertEquals(101, get(calls.get(0)));
        assertThrows(CancellationException.class, () -> get(calls.get(1)));
        assertEquals(102, get(calls.get(2)));
        assertEquals(102, counter.get());
    }

    @Test
    void nothingIsWrittenForCallersThatHaveAllGivenUp() throws Exception {
        faults.onNext(AdditionsTest::isRead, RequestFate.HOLD_REPLY);
        addWhileHeld(3).forEach(call -> call.cancel(true));
        faults.releaseReplies(session);
        assertEquals(100, counter.get());
        assertEquals(101, counter.increment());
        assertEquals(1, writes.get());
    }

    @Test
    void lostSessionEndsThoseThatWereSentAndThoseThatWait() throws Exception {
        faults.onNext(AdditionsTest::isWrite, RequestFate.EXPIRE_AFTER);
        faults.onNext(AdditionsTest::isRead, RequestFate.HOLD_REPLY);
        List<CompletableFuture<Long>> calls = addWhileHeld(3);
        faults.releaseReplies(session);
        for (CompletableFuture<Long> call : calls) {
            ExecutionException failure = assertThrows(ExecutionException.class, () -> get(call));
            assertInstanceOf(SessionGoneException.class, failure.getCause());
        }
        assertEquals(104, counter.increment(), "on the next session");
        assertTrue(RecipeAccess.session(coordinator).id() != session);
    }
}
