package io.conclave.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.cache.MirrorChanges;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.RefusedException;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import io.conclave.node.Acl;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.SetAcl;
import io.conclave.request.SetData;
import io.conclave.session.Authentication;
import io.conclave.session.Registration;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Znodes that the mirror's user may not read. */
class UnreadableZnodesTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final NodePath ROOT = NodePath.of("/settings");
    private static final NodePath OPEN = NodePath.of("/settings/open");
    private static final NodePath SECRET = NodePath.of("/settings/secret");
    private static final NodePath BELOW = NodePath.of("/settings/secret/below");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Coordinator owner;
    private final Coordinator stranger;

    UnreadableZnodesTest() throws InterruptedException {
        owner = store.opened(store.builder().authentication(Authentication.digest("bob", "secret")));
        stranger = store.connect();
        for (NodePath path : List.of(ROOT, OPEN, SECRET, BELOW, BELOW.child("leaf"))) {
            owner.execute(Create.of(path));
        }
        owner.execute(SetAcl.of(SECRET, Acl.CREATOR_ONLY));
    }

    private Mirror loaded() throws InterruptedException {
        Mirror mirror = Mirror.ofTransactions(stranger, ROOT, MirrorScope.SUBTREE);
        mirror.awaitLoaded(PATIENCE);
        return mirror;
    }

    @Test
    void stateLeavesThemOutAndTheWholeStateIsRefused() throws Exception {
        try (Mirror mirror = loaded()) {
            assertEquals(List.of(ROOT, OPEN), List.copyOf(mirror.state().nodes().keySet()));
            RefusedException refusal = assertThrows(RefusedException.class, () -> mirror.wholeState(path -> true));
            assertTrue(refusal.getMessage().contains(SECRET.toString()), refusal::getMessage);
            assertEquals(mirror.state(), mirror.wholeState(path -> !path.equals(SECRET)));
        }
    }

    @Test
    void refusalLooksAgainAndListenersHearThatTheyAreGone() throws Exception {
        try (Mirror mirror = loaded()) {
            List<MirrorChanges> told = new CopyOnWriteArrayList<>();
            mirror.listen(told::add);
            await().until(() -> told.size() == 1);
            for (NodePath path : List.of(BELOW.child("leaf"), BELOW, SECRET)) {
                owner.execute(Delete.of(path));
            }
            assertThrows(RefusedException.class, () -> mirror.wholeState(path -> true));
            await().until(() -> told.size() == 2);
            assertEquals(List.of(), told.get(1).changes());
            assertEquals(mirror.state(), mirror.wholeState(path -> true));
        }
    }

    @Test
    void refusalLooksAgainAndReadsAllBelowThem() throws Exception {
        try (Mirror mirror = loaded()) {
            owner.execute(SetAcl.of(SECRET, Acl.OPEN)); // nobody is told of that
            assertThrows(RefusedException.class, () -> mirror.wholeState(path -> true));
            await().until(() -> mirror.get(BELOW.child("leaf")).isPresent());
            assertEquals(5, mirror.wholeState(path -> true).nodes().size());
        }
    }

    @Test
    void allBelowIsReadWhenTheyAreChangedAndMayBeRead() throws Exception {
        try (Mirror mirror = loaded()) {
            owner.execute(SetAcl.of(SECRET, Acl.OPEN));
            owner.execute(SetData.of(SECRET, "told".getBytes(UTF_8)));
            await().until(() -> mirror.get(BELOW.child("leaf")).isPresent());
            assertEquals(5, mirror.wholeState(path -> true).nodes().size());
        }
    }

    @Test
    void valueThatCouldNotBeReadForAWhileIsNotToldAsNone() throws Exception {
        SharedValue<String> value = SharedValue.at(owner, "/settings/open", DataCodec.TEXT);
        value.set("one");
        List<String> told = new CopyOnWriteArrayList<>();
        CountDownLatch busy = new CountDownLatch(1);
        Registration observation = SharedValue.at(stranger, "/settings/open", DataCodec.TEXT)
                .observe(now -> {
                    told.add(now.map(Versioned::value).orElse("none"));
                    awaitQuietly(busy);
                });
        try (Mirror later = Mirror.of(stranger, OPEN, MirrorScope.NODE)) {
            await().until(() -> told.size() == 1);
            later.awaitLoaded(PATIENCE);
            owner.execute(SetAcl.of(OPEN, Acl.CREATOR_ONLY));
            readAnew();
            await().until(() -> later.get(OPEN).isEmpty());
            owner.execute(SetAcl.of(OPEN, Acl.OPEN));
            readAnew();
            await().until(() -> later.get(OPEN).isPresent());
            busy.countDown();
            value.set("two");
            await().until(() -> told.contains("two"));
            assertEquals(List.of("one", "two"), told);
        } finally {
            busy.countDown();
            observation.close();
        }
    }

    private void readAnew() {
        Faults faults = store.faults();
        faults.suspend(RecipeAccess.session(stranger).id());
        faults.restore(RecipeAccess.session(stranger).id());
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
