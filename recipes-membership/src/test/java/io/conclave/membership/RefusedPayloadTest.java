package io.conclave.membership;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.RefusedException;
import io.conclave.grant.FencingToken;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.testkit.contract.TestStore;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An update that the backend does not take is nothing but an update that failed, whenever it comes. */
class RefusedPayloadTest {
    private static final NodePath MEMBER = NodePath.of("/group/a");
    private static final NodePath NODE = NodePath.of("/kept");
    private static final String TOO_LARGE = "x".repeat(2_000_000);

    @RegisterExtension
    final TestStore store = new TestStore();

    @Test
    void memberThatLostItsSessionJoinsAgainWithThePayloadAcceptedLast() throws Exception {
        try (Coordinator coordinator = store.connect()) {
            Group<String> group = Group.at(coordinator, "/group", DataCodec.TEXT);
            Membership<String> me = group.join("a", "one");
            FencingToken first = me.token().orElseThrow();
            store.faults().suspendAll();
            store.faults().expire(RecipeAccess.session(coordinator).id());
            CompletableFuture<Void> update = me.updateAsync(TOO_LARGE);
            store.faults().restoreAll(); // tells of the loss, and the member joins again with its latest payload
            assertRefused(update);
            await().until(() ->
                    me.token().filter(token -> token.compareTo(first) > 0).isPresent());
            assertEquals("one", group.members().get(0).payload());
            me.update("two");
            assertEquals("two", group.members().get(0).payload());
        }
    }

    @Test
    void memberKeepsTheUpdateBeforeARefusedOneAlsoIfThatCameBeforeItsReply() throws Exception {
        try (Coordinator other = store.connect();
                Coordinator coordinator = store.connect()) {
            Group<String> group = Group.at(coordinator, "/group", DataCodec.TEXT);
            Membership<String> me = group.join("a", "one");
            FencingToken first = me.token().orElseThrow();
            long session = RecipeAccess.session(coordinator).id();
            store.faults().holdReplies(session);
            CompletableFuture<Void> accepted = me.updateAsync("two");
            awaitData(other, MEMBER, "two");
            CompletableFuture<Void> refused = me.updateAsync(TOO_LARGE);
            store.faults().releaseReplies(session);
            accepted.get(120, SECONDS);
            assertRefused(refused);
            store.faults().expire(session);
            await().until(() ->
                    me.token().filter(token -> token.compareTo(first) > 0).isPresent());
            assertEquals("two", data(other, MEMBER));
            me.updateAsync("three").get(120, SECONDS);
            assertEquals("three", data(other, MEMBER));
        }
    }

    @Test
    void memberWritesTheNextUpdateAfterARefusedOneThatCameBeforeTheReplyOfAnother() throws Exception {
        try (Coordinator other = store.connect();
                Coordinator coordinator = store.connect()) {
            Membership<String> me =
                    Group.at(coordinator, "/group", DataCodec.TEXT).join("a", "one");
            long session = RecipeAccess.session(coordinator).id();
            store.faults().holdReplies(session);
            me.updateAsync("two");
            awaitData(other, MEMBER, "two");
            CompletableFuture<Void> refused = me.updateAsync(TOO_LARGE);
            store.faults().releaseReplies(session);
            assertRefused(refused);
            me.updateAsync("three").get(120, SECONDS);
            assertEquals("three", data(other, MEMBER));
        }
    }

    @Test
    void keptZnodeKeepsTheUpdateBeforeARefusedOneAndWritesTheNext() throws Exception {
        try (Coordinator other = store.connect();
                Coordinator coordinator = store.connect()) {
            KeptNode node = KeptNode.ephemeral(coordinator, NODE, bytes("one"));
            node.created().get(120, SECONDS);
            long session = RecipeAccess.session(coordinator).id();
            store.faults().holdReplies(session);
            CompletableFuture<Void> accepted = node.updateAsync(bytes("two"));
            awaitData(other, NODE, "two");
            CompletableFuture<Void> refused = node.updateAsync(bytes(TOO_LARGE));
            store.faults().releaseReplies(session);
            accepted.get(120, SECONDS);
            assertRefused(refused);
            other.execute(SetData.of(NODE, bytes("somebody else's")));
            node.updateAsync(bytes("three")).get(120, SECONDS);
            assertEquals("three", data(other, NODE));
        }
    }

    @Test
    void keptZnodeComesBackWithTheUpdateBeforeARefusedOne() throws Exception {
        try (Coordinator other = store.connect();
                Coordinator coordinator = store.connect()) {
            KeptNode node = KeptNode.persistent(coordinator, NODE, bytes("one"));
            node.created().get(120, SECONDS);
            long session = RecipeAccess.session(coordinator).id();
            store.faults().holdReplies(session);
            node.updateAsync(bytes("two"));
            awaitData(other, NODE, "two");
            CompletableFuture<Void> refused = node.updateAsync(bytes(TOO_LARGE));
            store.faults().releaseReplies(session);
            assertRefused(refused);
            long former = czxid(other);
            other.execute(Delete.of(NODE));
            await().until(() -> czxid(other) > former);
            assertEquals("two", data(other, NODE));
        }
    }

    @Test
    void refusedUpdateTakesNoneWithItThatWaitsForAConnectionToo() throws Exception {
        try (Coordinator other = store.connect();
                Coordinator coordinator = store.connect()) {
            Membership<String> me =
                    Group.at(coordinator, "/group", DataCodec.TEXT).join("a", "one");
            KeptNode node = KeptNode.ephemeral(coordinator, NODE, bytes("one"));
            node.created().get(120, SECONDS);
            long session = RecipeAccess.session(coordinator).id();
            store.faults().suspend(session); // so all that follows waits
            CompletableFuture<Void> memberSuperseded = me.updateAsync("superseded");
            CompletableFuture<Void> memberAccepted = me.updateAsync("two");
            CompletableFuture<Void> memberRefused = me.updateAsync(TOO_LARGE);
            CompletableFuture<Void> nodeSuperseded = node.updateAsync(bytes("superseded"));
            CompletableFuture<Void> nodeAccepted = node.updateAsync(bytes("two"));
            CompletableFuture<Void> nodeRefused = node.updateAsync(bytes(TOO_LARGE));
            store.faults().restore(session);
            assertRefused(memberRefused);
            assertRefused(nodeRefused);
            for (CompletableFuture<Void> accepted :
                    List.of(memberSuperseded, memberAccepted, nodeSuperseded, nodeAccepted)) {
                accepted.get(120, SECONDS);
            }
            assertEquals("two", data(other, MEMBER));
            assertEquals("two", data(other, NODE));
        }
    }

    private static void assertRefused(CompletableFuture<Void> update) {
        Exception failure = assertThrows(ExecutionException.class, () -> update.get(120, SECONDS));
        assertInstanceOf(RefusedException.class, failure.getCause());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String data(Coordinator coordinator, NodePath path) throws InterruptedException {
        return coordinator.execute(GetData.of(path)).bytes().text();
    }

    private static void awaitData(Coordinator coordinator, NodePath path, String expected) {
        await().until(() -> data(coordinator, path).equals(expected));
    }

    /** Of the kept znode; 0 if it is not there. */
    private static long czxid(Coordinator coordinator) throws InterruptedException {
        return coordinator.execute(Exists.of(NODE)).map(NodeStat::czxid).orElse(0L);
    }
}
