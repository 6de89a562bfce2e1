package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.grant.RevocationOutcome;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.node.Permission;
import io.conclave.request.Create;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.Quiescence;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A holder is asked to give up, and the word, or the deletion at the deadline, is refused. */
@Timeout(300)
class RefusedRevocationTest {
    private static final NodePath LINE = NodePath.of("/lock");
    private static final Acl NOBODY_DELETES =
            new Acl(List.of(new Acl.Entry(EnumSet.complementOf(EnumSet.of(Permission.DELETE)), "world", "anyone")));

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource();

    private Coordinator connect() {
        return store.connect(clock);
    }

    @Test
    void refusalAtTheDeadlineLeavesNoWatch() throws Exception {
        try (Coordinator holder = connect();
                Coordinator revoker = connect()) {
            holder.execute(Create.of(LINE).withAcl(NOBODY_DELETES));
            LockGrant grant = DistributedLock.at(holder, LINE).acquire();
            DistributedLock lock = DistributedLock.at(revoker, LINE);
            CompletableFuture<RevocationOutcome> asked =
                    lock.requestRelease(lock.holder().orElseThrow(), Duration.ofSeconds(1));
            Quiescence.await(faults, List.of(holder, revoker));
            assertEquals(1, faults.watchCount(RecipeAccess.session(revoker).id()));
            clock.advance(Duration.ofSeconds(1));
            ExecutionException failure = assertThrows(ExecutionException.class, () -> asked.get(120, SECONDS));
            assertEquals(RefusalReason.NO_AUTH, ((RefusedException) failure.getCause()).reason());
            Quiescence.await(faults, List.of(holder, revoker));
            assertEquals(0, faults.watchCount(RecipeAccess.session(revoker).id()));
            assertTrue(grant.isHeld());
        }
    }

    /**
     * What it fails with if its first words meet these fates and every further one is refused, as by a full state.
     *
     * @param meanwhile done with the holder's znode when the first word is lost, before the connection is back
     */
    private Throwable failureOfTheWordAfter(List<RequestFate> fates, Consumer<NodePath> meanwhile) throws Exception {
        try (Coordinator holder = connect();
                Coordinator revoker = connect()) {
            DistributedLock.at(holder, LINE).acquire();
            DistributedLock lock = DistributedLock.at(revoker, LINE);
            LockMember member = lock.holder().orElseThrow();
            faults.reconnectAfter(Duration.ofSeconds(1));
            CompletableFuture<Void> firstWord = nextWord(revoker, fates.get(0));
            CompletableFuture<RevocationOutcome> asked = lock.requestRelease(member, Duration.ofSeconds(1));
            firstWord.get(120, SECONDS);
            meanwhile.accept(member.path());
            for (RequestFate fate : fates.subList(1, fates.size())) {
                CompletableFuture<Void> word = nextWord(revoker, fate);
                clock.advanceUntil(Duration.ofMillis(100), word::isDone);
            }
            faults.refuse(SetData.class::isInstance, RefusalReason.LIMIT_EXCEEDED);
            clock.advanceUntil(Duration.ofMillis(100), asked::isDone);
            return assertThrows(ExecutionException.class, asked::get).getCause();
        } finally {
            faults.clear();
        }
    }

    /** When the next word goes out, which meets that fate. */
    private CompletableFuture<Void> nextWord(Coordinator revoker, RequestFate fate) {
        CompletableFuture<Void> word = new CompletableFuture<>();
        faults.onNext(
                RecipeAccess.session(revoker).id(), request -> request instanceof SetData && word.complete(null), fate);
        return word;
    }

    private static void assertRefused(Throwable failure) {
        assertEquals(
                RefusalReason.LIMIT_EXCEEDED,
                assertInstanceOf(RefusedException.class, failure).reason());
    }

    @Test
    void wordThatIsRefusedAfterALostOneWithoutEffectIsRefused() throws Exception {
        assertRefused(failureOfTheWordAfter(List.of(RequestFate.DROP_BEFORE), holder -> {}));
    }

    @Test
    void wordThatIsRefusedAfterALostOneThatIsOverwrittenIsUnknown() throws Exception {
        try (Coordinator other = connect()) {
            Throwable failure = failureOfTheWordAfter(
                    List.of(RequestFate.DROP_AFTER),
                    holder -> other.submit(SetData.of(holder, new byte[] {1})).join());
            assertInstanceOf(OutcomeUnknownException.class, failure, failure::toString);
        }
    }

    @Test
    void wordThatIsOverwrittenStaysUnknownThoughALaterOneHadNoEffect() throws Exception {
        try (Coordinator other = connect()) {
            Throwable failure = failureOfTheWordAfter(
                    List.of(RequestFate.DROP_AFTER, RequestFate.DROP_BEFORE),
                    holder -> other.submit(SetData.of(holder, new byte[] {1})).join());
            assertInstanceOf(OutcomeUnknownException.class, failure, failure::toString);
        }
    }

    @Test
    void wordThatIsRefusedAfterALostOneThatAnotherClientWasQuickerThanIsRefused() throws Exception {
        try (Coordinator other = connect()) {
            assertRefused(failureOfTheWordAfter(
                    List.of(RequestFate.DROP_BEFORE),
                    holder -> other.submit(SetData.of(holder, new byte[] {1})).join()));
        }
    }
}
