package io.conclave.barriers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.WaitTimeoutException;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.SetData;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a latch promises, on every backend; a subclass says where the backend is. */
public abstract class LatchContract extends BarrierFixture {
    private static Latch of(Coordinator coordinator, int count) {
        return Latch.at(coordinator, PATH, count);
    }

    @Test
    void opensWithTheLastCountAndStaysOpen() throws Exception {
        Latch mine = of(connect(), 3);
        Latch other = of(connect(), 3);
        CompletableFuture<Void> wait = other.awaitAsync();
        assertEquals(3, mine.remaining());
        assertEquals(3, get(mine.remainingAsync()));
        mine.countDown();
        other.countDown();
        assertEquals(1, mine.remaining());
        assertEquals(1, get(mine.remainingAsync()));
        assertThrows(WaitTimeoutException.class, () -> mine.await(SHORT));
        assertFalse(wait.isDone());
        mine.countDown();
        get(wait);
        mine.await();
        mine.countDown();
        assertEquals(0, mine.remaining());
        of(connect(), 3).await(PATIENCE);
    }

    @Test
    void aNameIsCountedOnce() throws Exception {
        Latch mine = of(connect(), 2);
        mine.countDown("shard-1");
        of(connect(), 2).countDown("shard-1");
        assertEquals(1, mine.remaining());
        mine.countDown("shard-2");
        mine.await(PATIENCE);
    }

    @Test
    void otherCountIsRefused() throws Exception {
        of(connect(), 2).countDown();
        Latch wrong = of(connect(), 3);
        assertTrue(assertThrows(IllegalArgumentException.class, wrong::countDown)
                .getMessage()
                .contains("\"2\""));
        assertThrows(IllegalArgumentException.class, () -> wrong.await(PATIENCE));
        assertThrows(IllegalArgumentException.class, () -> of(connect(), 0));
    }

    @Test
    void otherCountIsRefusedAlsoWhereTheNameHasCountedAndWhereCountsAreAskedFor() throws Exception {
        of(connect(), 1).countDown("a");
        Latch wrong = of(connect(), 5);
        assertThrows(IllegalArgumentException.class, () -> wrong.countDown("a"));
        assertThrows(IllegalArgumentException.class, wrong::remaining);
        ExecutionException failure = assertThrows(ExecutionException.class, () -> get(wrong.remainingAsync()));
        assertInstanceOf(IllegalArgumentException.class, failure.getCause(), failure::toString);
        of(connect(), 1).await(PATIENCE);
        assertEquals(0, of(connect(), 1).remaining());
    }

    @Test
    void remainingOfOneThatIsNotThereIsAll() throws Exception {
        assertEquals(4, of(connect(), 4).remaining());
        assertEquals(List.of(), children(connect(), PATH));
    }

    @Test
    void manyCountAtOnceAndNothingIsLost() throws Exception {
        List<Future<?>> counters = new ArrayList<>();
        CompletableFuture<Void> wait = of(connect(), 40).awaitAsync(PATIENCE);
        for (int i = 0; i < 4; i++) {
            Latch countDown = of(connect(), 40);
            counters.add(threads.submit(() -> {
                for (int count = 0; count < 10; count++) {
                    assertFalse(wait.isDone());
                    countDown.countDown();
                }
                return null;
            }));
        }
        for (Future<?> counter : counters) {
            counter.get();
        }
        get(wait);
    }

    @Test
    void deletedOneCanBeUsedAgain() throws Exception {
        Coordinator coordinator = connect();
        Latch first = of(coordinator, 2);
        first.countDown();
        first.countDown();
        first.await(PATIENCE);
        first.delete();
        first.delete();
        await().atMost(PATIENCE).until(() -> children(coordinator, PATH).isEmpty());
        Latch second = of(connect(), 1);
        assertThrows(WaitTimeoutException.class, () -> second.await(SHORT));
        second.countDown();
        second.await(PATIENCE);
    }

    @Test
    void deletionFailsWhereACountHasChildren() throws Exception {
        Coordinator coordinator = connect();
        Latch countDown = of(coordinator, 1);
        countDown.countDown("a");
        NodePath foreign = NodePath.of(PATH + "/by/a/foreign");
        coordinator.execute(Create.of(foreign));
        ExecutionException failure = assertThrows(ExecutionException.class, () -> get(countDown.deleteAsync()));
        assertTrue(Failures.is(failure.getCause(), RefusalReason.NOT_EMPTY), () -> String.valueOf(failure));
        coordinator.execute(Delete.of(foreign));
        countDown.delete();
    }

    @Test
    void deletionLeavesWhatOthersKeepBelowIt() throws Exception {
        Coordinator coordinator = connect();
        Latch countDown = of(coordinator, 1);
        countDown.countDown("a");
        NodePath other = NodePath.of(PATH + "/x");
        coordinator.execute(Create.of(other));
        coordinator.execute(Create.of(other.child("y")));
        ExecutionException failure = assertThrows(ExecutionException.class, () -> get(countDown.deleteAsync()));
        assertTrue(Failures.is(failure.getCause(), RefusalReason.NOT_EMPTY), () -> String.valueOf(failure));
        assertEquals(List.of("y"), children(coordinator, other.toString()));
        coordinator.execute(Delete.of(other.child("y")));
        coordinator.execute(Delete.of(other));
        countDown.delete();
        assertEquals(Optional.empty(), coordinator.execute(Exists.of(NodePath.of(PATH))));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void deletionLeavesWhatIsNoLatch(boolean hasChild) throws Exception {
        Coordinator coordinator = connect();
        NodePath other = NodePath.of(PATH);
        coordinator.execute(Create.of(other.parent().orElseThrow()));
        coordinator.execute(Create.of(other));
        if (hasChild) {
            coordinator.execute(Create.of(other.child("item")));
        }
        ExecutionException failure = assertThrows(
                ExecutionException.class, () -> get(of(coordinator, 3).deleteAsync()));
        assertInstanceOf(IllegalArgumentException.class, failure.getCause());
        assertEquals(hasChild ? List.of("item") : List.of(), children(coordinator, PATH));
        assertTrue(coordinator.execute(Exists.of(other)).isPresent());
    }

    /** The data of a setting may be a whole number. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void deletionLeavesANumberThatIsNoLatch(boolean wasWritten) throws Exception {
        Coordinator coordinator = connect();
        NodePath setting = NodePath.of(PATH);
        coordinator.execute(Create.of(setting.parent().orElseThrow()));
        coordinator.execute(Create.of(setting).withData(new byte[] {'4', '2'}));
        if (wasWritten) {
            coordinator.execute(SetData.of(setting, new byte[] {'4', '2'}));
        }
        ExecutionException failure = assertThrows(
                ExecutionException.class, () -> get(of(coordinator, 3).deleteAsync()));
        assertInstanceOf(IllegalArgumentException.class, failure.getCause());
        assertEquals(List.of(), children(coordinator, PATH));
        assertEquals(
                wasWritten ? 1 : 0,
                coordinator.execute(Exists.of(setting)).orElseThrow().version());
    }

    /** What a deletion leaves that was interrupted: the parts are gone. */
    @Test
    void deletionTakesItsOwnCountWithoutParts() throws Exception {
        Coordinator coordinator = connect();
        NodePath latch = NodePath.of(PATH);
        coordinator.execute(Create.of(latch.parent().orElseThrow()));
        coordinator.execute(Create.of(latch).withData(new byte[] {'3'}));
        of(coordinator, 3).delete();
        assertEquals(Optional.empty(), coordinator.execute(Exists.of(latch)));
    }

    @Test
    void deletionTakesALatchOfAnotherCount() throws Exception {
        Coordinator coordinator = connect();
        of(coordinator, 2).countDown();
        of(coordinator, 3).delete();
        assertEquals(Optional.empty(), coordinator.execute(Exists.of(NodePath.of(PATH))));
    }
}
