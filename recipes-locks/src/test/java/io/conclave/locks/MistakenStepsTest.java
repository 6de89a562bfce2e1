package io.conclave.locks;

import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetChildren;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.Mistake;
import java.util.Comparator;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The scenarios that our locks pass find the mistakes that locks usually have, planted into one step of ours. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("proof")
class MistakenStepsTest {
    private static final Mistake DEPARTURE_DELETES_THE_FIRST_IN_LINE =
            Mistake.afterLostReply("delete /locks/faults/.*", new Mistake.AfterLostReply() {
                @Override
                public <R> CompletionStage<R> answer(BackendSession session, Request<R> request) {
                    NodePath line = NodePath.of("/locks/faults");
                    return session.submit(GetChildren.of(line))
                            .thenCompose(children -> children.names().stream()
                                    .min(Comparator.comparing(name -> name.substring(name.lastIndexOf('-'))))
                                    .map(first -> session.submit(Delete.of(line.child(first))))
                                    .orElseThrow())
                            .thenCompose(deleted -> session.submit(request));
                }
            });

    /** A lease that is gone is made again by its extension. */
    private static final Mistake MAKES_AGAIN_WHAT_IT_EXTENDS =
            Mistake.afterLostReply("set /leases/faults/lease-.*", new Mistake.AfterLostReply() {
                @Override
                @SuppressWarnings("unchecked") // what a write of data answers
                public <R> CompletionStage<R> answer(BackendSession session, Request<R> request) {
                    SetData write = (SetData) request;
                    return session.submit(write.withVersion(-1))
                            .exceptionallyCompose(failure -> session.submit(
                                            Create.of(write.path()).withData(write.data()))
                                    .thenApply(Create.Created::stat))
                            .thenApply(stat -> (R) stat);
                }
            });

    static Stream<Arguments> mistakes() {
        // which of the rules sees it first is a matter of the threads, and of the rivals
        String two = "two hold at the same time|held the lock at the same time|TOKEN_WENT_BACK";
        // A contender that does not hear of a deletion misses that of its own znode, or that of the one it waits for.
        String gone = "its znode is gone|lost wake-up";
        return Stream.of(
                Arguments.of("lock stops only when told", LockFaultsTest.holder(), Mistake.stopsOnlyWhenTold(), two),
                Arguments.of(
                        "lock overlooks a deletion",
                        LockFaultsTest.holder(),
                        Mistake.doesNotHearOfDeletion("/locks/.*"),
                        gone),
                Arguments.of(
                        "lock enters again",
                        LockFaultsTest.holder(),
                        Mistake.sendsAgain("create /locks/faults/.*"),
                        "lost wake-up"),
                Arguments.of(
                        "lock deletes its successor",
                        LockFaultsTest.holder(),
                        DEPARTURE_DELETES_THE_FIRST_IN_LINE,
                        "lost for no reason: NODE_DELETED"),
                Arguments.of(
                        "lock does not delete again",
                        LockFaultsTest.holder(),
                        Mistake.takesForDone("delete /locks/faults/.*"),
                        "lost wake-up"),
                Arguments.of("try stops only when told", LockFaultsTest.tryFree(), Mistake.stopsOnlyWhenTold(), two),
                Arguments.of(
                        "lock in kazoo's layout stops only when told",
                        KazooLayoutFaultsTest.holder(),
                        Mistake.stopsOnlyWhenTold(),
                        two),
                Arguments.of(
                        "work on a write lock stops only when told",
                        WhileHeldFaultsTest.writer(),
                        Mistake.stopsOnlyWhenTold(),
                        two),
                Arguments.of(
                        "kept lock stops only when told", KeptLockFaultsTest.again(), Mistake.stopsOnlyWhenTold(), two),
                Arguments.of(
                        "try of a kept lock stops only when told",
                        KeptLockFaultsTest.trying(),
                        Mistake.stopsOnlyWhenTold(),
                        two),
                Arguments.of(
                        "kept lock overlooks a deletion",
                        KeptLockFaultsTest.again(),
                        Mistake.doesNotHearOfDeletion("/locks/.*"),
                        gone),
                Arguments.of(
                        "kept lock does not delete again",
                        KeptLockFaultsTest.givingWay(),
                        Mistake.takesForDone("delete /locks/faults/.*"),
                        "lost wake-up"),
                Arguments.of(
                        "reader stops only when told", SharedLockFaultsTest.reader(), Mistake.stopsOnlyWhenTold(), two),
                Arguments.of(
                        "semaphore stops only when told",
                        SemaphoreFaultsTest.holder(),
                        Mistake.stopsOnlyWhenTold(),
                        "permits of 3 are held"),
                Arguments.of(
                        "try of a semaphore stops only when told",
                        SemaphoreFaultsTest.trying(),
                        Mistake.stopsOnlyWhenTold(),
                        "permits of 3 are held"),
                Arguments.of(
                        "number of permits is set again",
                        SemaphoreFaultsTest.numberSetByOthers(true),
                        Mistake.sendsAgain("set /semaphores/faults.*"),
                        "set the number twice"),
                Arguments.of(
                        "semaphore overlooks a deletion",
                        SemaphoreFaultsTest.holder(),
                        Mistake.doesNotHearOfDeletion("/.*"),
                        gone),
                Arguments.of(
                        "multi-lock stops only when told",
                        MultiLockFaultsTest.holder(),
                        Mistake.stopsOnlyWhenTold(),
                        two),
                Arguments.of(
                        "multi-lock overlooks a deletion",
                        MultiLockFaultsTest.holder(),
                        Mistake.doesNotHearOfDeletion("/.*"),
                        gone),
                Arguments.of(
                        "multi-lock enters one line after the other",
                        MultiLockFaultsTest.overlapping(),
                        Mistake.sendsOneByOne("multi .create .*"),
                        // its recovery sees that some places are there only, which a transaction does not leave
                        "lost wake-up|no fault explains: io.conclave.error.GrantLostException"),
                Arguments.of(
                        "locks one after the other beside a multi-lock",
                        MultiLockFaultsTest.nested(),
                        (Mistake) sound -> sound, // in the scenario itself
                        "lost wake-up"),
                Arguments.of(
                        "multi-lock enters again",
                        MultiLockFaultsTest.holder(),
                        Mistake.sendsAgain("multi .create .*"),
                        "lost wake-up"),
                Arguments.of(
                        "multi-lock does not delete again",
                        MultiLockFaultsTest.holder(),
                        Mistake.takesForDone("multi .delete .*"),
                        "lost wake-up"),
                Arguments.of(
                        "lease is taken in whatever version",
                        LeasedFaultsTest.successor(),
                        Mistake.forgetsVersions("multi .*create /leases/faults/lease-.*"),
                        "taken from one who has just gone on with it"),
                Arguments.of(
                        "lease is extended in whatever version",
                        LeasedFaultsTest.extender(),
                        Mistake.forgetsVersions("set /leases/faults/lease-.*"),
                        "a shorter lease"),
                Arguments.of(
                        "lease is resumed in whatever version",
                        LeasedFaultsTest.resume(),
                        Mistake.forgetsVersions("set /leases/faults/lease-.*"),
                        "a shorter lease"),
                Arguments.of(
                        "lease is made again by its extension",
                        LeasedFaultsTest.extendedAndTaken(),
                        MAKES_AGAIN_WHAT_IT_EXTENDS,
                        "two hold|left: "),
                Arguments.of(
                        "lease is created again",
                        LeasedFaultsTest.holder(),
                        Mistake.sendsAgain("multi .*create /leases/faults/lease-.*"),
                        "left: "),
                Arguments.of(
                        "lease is not deleted again",
                        LeasedFaultsTest.holder(),
                        Mistake.takesForDone("delete /leases/faults/lease-.*"),
                        "AcquireTimeoutException|left: |never released"),
                Arguments.of(
                        "holder of a lease overlooks its deletion",
                        LeasedFaultsTest.releasedWhileAway(),
                        Mistake.doesNotHearOfDeletion("/leases/faults/lease-.*"),
                        "says that it holds"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void mistakeIsFound(String name, FaultDriver driver, Mistake mistake, String sign) {
        driver.find(mistake, sign);
    }
}
