package io.conclave.membership;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.LossReason;
import io.conclave.error.RefusalReason;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.testkit.contract.RecipeFixture;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** How a share ends when something else comes in between. */
@Timeout(value = 300, unit = SECONDS)
class PartitionerEdgesTest {
    private static final String PATH = "/shards/edges";
    private static final NodePath MEMBER = NodePath.of(PATH + "/members/a");

    private final String store = UUID.randomUUID().toString();
    private final Coordinator coordinator = Coordinator.connect("memory:" + store);
    private final Coordinator operator = Coordinator.connect("memory:" + store);
    private final Faults faults = MemoryStore.named(store).faults();
    private final Blocked listener = new Blocked();

    /** A listener whose work on a partition begins slowly. */
    private static final class Blocked implements PartitionListener {
        private final CountDownLatch begins = new CountDownLatch(1);
        private final CountDownLatch mayGoOn = new CountDownLatch(1);
        private final List<LossReason> told = Collections.synchronizedList(new ArrayList<>());
        private final CompletableFuture<Boolean> wasHeld = new CompletableFuture<>();

        @Override
        public void acquired(PartitionGrant partition) {
            begins.countDown();
            boolean interrupted = false;
            while (true) {
                try {
                    mayGoOn.await();
                    break;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void released(PartitionGrant partition, LossReason reason) {
            told.add(reason);
            wasHeld.complete(partition.isHeld());
        }
    }

    private PartitionShare join() {
        return Partitioner.at(coordinator, PATH, Set.of("0"))
                .withQuietPeriod(Duration.ZERO)
                .join("a", listener);
    }

    private boolean isMember() throws InterruptedException {
        return RecipeFixture.children(operator, PATH + "/members").contains("a");
    }

    @AfterEach
    void close() {
        listener.mayGoOn.countDown();
        coordinator.close();
        operator.close();
        MemoryStore.forget(store);
    }

    @Test
    void closeWhileItIsJoiningWaitsUntilItsZnodeIsGone() throws Exception {
        for (String parent : List.of("/shards", PATH, PATH + "/members")) { // so that the first creation takes effect
            operator.execute(Create.of(NodePath.of(parent)));
        }
        faults.onNext(
                request -> request instanceof Create create && create.path().equals(MEMBER), RequestFate.HOLD_REPLY);
        PartitionShare share = join();
        await().until(this::isMember);
        CompletableFuture<Void> closed = share.closeAsync();
        assertThrows(TimeoutException.class, () -> closed.get(200, MILLISECONDS)); // no limit that load could break
        faults.releaseReplies(RecipeAccess.session(coordinator).id());
        closed.get(60, SECONDS);
        assertEquals(LossReason.RELEASED, share.ended().get(60, SECONDS));
        assertEquals(List.of(), RecipeFixture.children(operator, PATH + "/members"));
    }

    @Test
    void shareWhoseIdIsTakenClaimsAndAssignsNothingUntilItIsFree() throws Exception {
        NodePath assignment = NodePath.of(PATH + "/assignment");
        Membership<String> present =
                Group.at(coordinator, PATH + "/members", DataCodec.TEXT).join("a", "");
        operator.execute(Create.of(assignment)
                .withData(Assignment.NONE.next(List.of("a"), Set.of("0")).toBytes()));
        long waiter = RecipeAccess.session(operator).id();
        PartitionShare share = Partitioner.at(operator, PATH, Set.of("0", "1"))
                .withQuietPeriod(Duration.ZERO)
                .join("a", listener);
        await().until(() -> faults.watchCount(waiter) >= 3); // of the member, the group and the assignment
        for (int i = 0; i < 20; i++) { // it has seen the assignment meanwhile; if not, this test finds less
            operator.execute(Exists.of(assignment));
            CompletableFuture<Void> seen = new CompletableFuture<>();
            ((HeldShare) share).execute(() -> seen.complete(null));
            seen.get(60, SECONDS);
        }
        assertEquals(1, listener.begins.getCount());
        assertEquals(0, version(assignment));
        present.leave();
        listener.mayGoOn.countDown();
        await().until(() -> share.held().keySet().equals(Set.of("0", "1")));
    }

    private int version(NodePath path) throws InterruptedException {
        return operator.execute(Exists.of(path)).map(NodeStat::version).orElse(-1);
    }

    /** A share that leaves, whose listener is busy; then this happens; then the listener goes on. */
    private void assertToldOnce(LossReason expected, Runnable meanwhile) throws Exception {
        PartitionShare share = join();
        assertTrue(listener.begins.await(60, SECONDS));
        CompletableFuture<Void> closed = share.closeAsync();
        await().until(() -> !isMember()); // so it is leaving
        PartitionGrant grant = share.held().get("0");
        meanwhile.run();
        await().until(() -> !grant.isHeld());
        listener.mayGoOn.countDown();
        closed.get(60, SECONDS);
        assertEquals(List.of(expected), listener.told);
    }

    @Test
    void listenerIsToldOfTheClosedCoordinatorIfTheShareWasLeavingBefore() throws Exception {
        assertToldOnce(LossReason.COORDINATOR_CLOSED, coordinator::close);
    }

    @Test
    void listenerIsToldOfTheLostSessionIfTheShareWasLeavingBefore() throws Exception {
        assertToldOnce(
                LossReason.SESSION_LOST,
                () -> faults.expire(RecipeAccess.session(coordinator).id()));
    }

    @Test
    void listenerIsToldOfTheDeletionIfTheShareWasLeavingBefore() throws Exception {
        assertToldOnce(LossReason.NODE_DELETED, () -> faults.deleteAsOperator(NodePath.of(PATH + "/partitions/0")));
    }

    @Test
    void shareThatLeavesReleasesWhatItHolds() throws Exception {
        PartitionShare share = join();
        assertTrue(listener.begins.await(60, SECONDS));
        CompletableFuture<Void> closed = share.closeAsync();
        await().until(() -> !isMember());
        listener.mayGoOn.countDown();
        closed.get(60, SECONDS);
        assertEquals(List.of(LossReason.RELEASED), listener.told);
        assertTrue(listener.wasHeld.join());
    }

    /** An operator is to hear that a right is missing; but not twice per second. */
    @Test
    void refusedReadsOfTheAssignmentAreLoggedOnce() throws Exception {
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.list = new CopyOnWriteArrayList<>();
        lines.start();
        Logger logger = (Logger) LoggerFactory.getLogger(HeldShare.class);
        logger.addAppender(lines);
        join();
        listener.begins.await();
        listener.mayGoOn.countDown();
        AtomicInteger reads = new AtomicInteger();
        faults.refuse(
                request -> request instanceof GetData get
                        && get.path().equals(NodePath.of(PATH + "/assignment"))
                        && reads.incrementAndGet() > 0,
                RefusalReason.NO_AUTH);
        try {
            faults.expire(RecipeAccess.session(coordinator).id());
            await().atMost(Duration.ofMinutes(2)).until(() -> reads.get() > 12);
            assertEquals(
                    List.of("cannot read the assignment, trying on: get " + PATH + "/assignment: refused"),
                    lines.list.stream()
                            .map(ILoggingEvent::getFormattedMessage)
                            .filter(line -> line.contains("cannot read the assignment"))
                            .filter(line -> line.contains(PATH)) // not of other tests
                            .map(line -> line.substring(line.indexOf("cannot"))) // what is held may still be ending
                            .toList());
        } finally {
            logger.detachAppender(lines);
        }
    }
}
