package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The reply of a write is lost, and another client deletes the znode and makes it again: the versions begin anew, and
 * tell nothing of the write.
 */
class RemadeZnodeTest {
    private static final Duration AWAY = Duration.ofMinutes(1);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String PATH = "/znode";

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator coordinator = store.connect(clock);
    private final Coordinator other = store.connect(new ManualTimeSource());

    private interface Step {
        void run() throws Exception;
    }

    private void isUnknown(Supplier<CompletableFuture<?>> write, Step meanwhile) throws Exception {
        faults.reconnectAfter(AWAY);
        faults.onNext(request -> !request.isRead(), RequestFate.DROP_AFTER);
        CompletableFuture<?> outcome = write.get();
        await().atMost(PATIENCE).until(() -> RecipeAccess.session(coordinator).state() == SessionState.SUSPENDED);
        other.execute(Delete.of(NodePath.of(PATH)));
        meanwhile.run();
        clock.advance(AWAY);
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> outcome.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        assertEquals(OutcomeUnknownException.class, failure.getCause().getClass(), failure::toString);
    }

    private static SharedValue<String> value(Coordinator of) {
        return SharedValue.at(of, PATH, DataCodec.TEXT);
    }

    @Test
    void comparedValueIsNotSetASecondTime() throws Exception {
        Versioned<String> read = value(coordinator).set("read");
        isUnknown(() -> value(coordinator).compareAndSetAsync(read, "written"), () -> value(other)
                .set("made again"));
        assertEquals("made again", value(other).get().orElseThrow().value());
    }

    @Test
    void valueIsNotTakenForOneThatRefusedTheWrite() throws Exception {
        Versioned<String> read = value(coordinator).set("read");
        isUnknown(() -> value(coordinator).compareAndSetAsync(read, "written"), () -> {
            value(other).set("made again");
            value(other).set("and set");
        });
    }

    @Test
    void removalOfALaterValueIsNotSentAgain() throws Exception {
        value(coordinator).set("read");
        isUnknown(() -> value(coordinator).removeAsync(), () -> value(other).set("made again"));
        assertEquals("made again", value(other).get().orElseThrow().value());
    }

    @Test
    void valueThatWasMadeAndDeletedIsNotMadeAgain() throws Exception {
        isUnknown(() -> value(coordinator).setAsync("written"), () -> {});
        assertEquals(Optional.empty(), value(other).get());
    }

    @Test
    void firstValueThatWasMadeAndDeletedIsNotMadeAgain() throws Exception {
        isUnknown(() -> value(coordinator).setIfAbsentAsync("written"), () -> {});
        assertEquals(Optional.empty(), value(other).get());
    }

    @Test
    void counterThatWasMadeAndDeletedDoesNotCountTwice() throws Exception {
        isUnknown(() -> SharedCounter.at(coordinator, PATH).addAsync(1), () -> {});
        assertEquals(0, SharedCounter.at(other, PATH).get());
    }

    @Test
    void valueMadeByAnotherAfterOursWasDeletedIsNotReplaced() throws Exception {
        isUnknown(
                () -> value(coordinator).setAsync("written"), () -> value(other).set("made again"));
        assertEquals("made again", value(other).get().orElseThrow().value());
    }

    @Test
    void firstValueDoesNotLoseAgainstOneMadeAfterItWasDeleted() throws Exception {
        isUnknown(() -> value(coordinator).setIfAbsentAsync("written"), () -> value(other)
                .set("made again"));
    }

    @Test
    void counterDoesNotCountTwiceWhatWasDeletedAndMadeAgain() throws Exception {
        isUnknown(() -> SharedCounter.at(coordinator, PATH).addAsync(5), () -> SharedCounter.at(other, PATH)
                .add(1));
        assertEquals(1, SharedCounter.at(other, PATH).get());
    }

    @Test
    void valueThatWasNeverMadeIsMade() throws Exception {
        faults.onNext(request -> !request.isRead(), RequestFate.DROP_BEFORE);
        assertEquals(0, value(coordinator).set("written").version());
    }

    @Test
    void counterDoesNotGoOnFromItsFormerValue() throws Exception {
        SharedCounter.at(coordinator, PATH).add(1);
        isUnknown(() -> SharedCounter.at(coordinator, PATH).addAsync(1), () -> SharedCounter.at(other, PATH)
                .add(100));
        assertEquals(100, SharedCounter.at(other, PATH).get());
    }
}
