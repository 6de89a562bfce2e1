package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a publication asks of the server. */
class PublicationTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    final TestStore store = new TestStore();

    @Test
    void thousandsOfNewKeysCostOneReadEachAndOneTransaction() throws InterruptedException {
        try (Coordinator coordinator = store.connect()) {
            Configuration configuration = Configuration.at(coordinator, "/config");
            assertTrue(configuration.publish(ConfigBatch.EMPTY));
            int keys = 4000;
            ConfigBatch batch = ConfigBatch.EMPTY;
            for (int i = 0; i < keys; i += 2) {
                batch = batch.set(ConfigKey.ofLong("key" + i), 1L).set(ConfigKey.ofLong("folder/key" + i), 1L);
            }
            long before = store.faults().requestCount();
            assertTrue(configuration.publish(batch));
            long requests = store.faults().requestCount() - before;
            assertEquals(keys + 1 + 1 + 1, requests, "the root, the folder, and the transaction");
        }
    }

    @Test
    void publicationThatCreatesNothingLeavesNothingBehind() throws InterruptedException {
        try (Coordinator coordinator = store.connect()) {
            Configuration configuration = Configuration.at(coordinator, "/config");
            assertTrue(configuration.publish(ConfigBatch.EMPTY.remove(ConfigKey.ofText("none/there"))));
            Versioned<String> gone = new Versioned<>("value", 7, 7);
            assertFalse(configuration.publish(ConfigBatch.setting(ConfigKey.ofText("new/key"), "value")
                    .expecting(ConfigKey.ofText("neither/there"), gone)));
            for (String path : new String[] {"/config/none", "/config/new", "/config/neither"}) {
                assertTrue(coordinator.execute(Exists.of(NodePath.of(path))).isEmpty(), path);
            }
        }
    }

    /** Who reads between the two knows that the value was set before the publication. */
    @ParameterizedTest
    @ValueSource(strings = {"old", "folder/old", "folder/of/old"})
    void removalTakesAwayWhatWasSetMeanwhile(String name) throws Exception {
        ConfigKey<String> old = ConfigKey.ofText(name);
        ConfigKey<String> fresh = ConfigKey.ofText("new");
        try (Coordinator coordinator = store.connect();
                Coordinator others = store.connect()) {
            Configuration configuration = Configuration.at(coordinator, "/config");
            configuration.publish(ConfigBatch.EMPTY);
            Configuration theirs = Configuration.at(others, "/config");
            Faults faults = store.faults();
            long session = RecipeAccess.session(coordinator).id();
            CompletableFuture<Void> looked = new CompletableFuture<>();
            NodePath oldPath = NodePath.of("/config/" + name);
            faults.onNext(
                    session,
                    request -> request instanceof Exists exists
                            && exists.path().equals(oldPath)
                            && (looked.complete(null) || true),
                    RequestFate.HOLD_REPLY);
            CompletableFuture<Boolean> published = configuration.publishAsync(
                    ConfigBatch.setting(fresh, "value").remove(old));
            looked.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            theirs.set(old, "set meanwhile");
            assertEquals(Optional.empty(), theirs.get(fresh));
            faults.releaseReplies(session);
            assertTrue(published.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            assertEquals(Optional.empty(), theirs.get(old));
            assertEquals(Optional.of("value"), theirs.get(fresh));
        }
    }

    @Test
    void keyMayBeSetAboveOneThatIsRemovedAndHasNoZnode() throws Exception {
        ConfigKey<String> folder = ConfigKey.ofText("folder");
        try (Coordinator coordinator = store.connect()) {
            Configuration configuration = Configuration.at(coordinator, "/config");
            assertTrue(configuration.publish(ConfigBatch.EMPTY
                    .set(folder, "value")
                    .remove(ConfigKey.ofText("folder/one"))
                    .remove(ConfigKey.ofText("folder/two"))));
            assertEquals(Optional.of("value"), configuration.get(folder));
            assertTrue(configuration.publish(ConfigBatch.EMPTY
                    .remove(ConfigKey.ofText("folder/one"))
                    .remove(ConfigKey.ofText("folder/two"))
                    .set(ConfigKey.ofText("folder/three"), "value")));
            assertTrue(coordinator
                    .execute(Exists.of(NodePath.of("/config/folder/one")))
                    .isEmpty());
        }
    }

    /** A coordinator whose server does not show yet what it has written itself. */
    private Coordinator lagging(Request<?> write) {
        Coordinator coordinator = store.connect(new ManualTimeSource());
        store.faults().onNext(RecipeAccess.session(coordinator).id(), write::equals, RequestFate.DROP_AND_LAG);
        assertThrows(OutcomeUnknownException.class, () -> coordinator.execute(write));
        return coordinator;
    }

    @Test
    void counterOfAServerThatLagsIsNotTakenForAnother() throws Exception {
        NodePath path = NodePath.of("/counter");
        try (Coordinator others = store.connect()) {
            SharedCounter.at(others, path).add(3);
        }
        byte[] five = ByteBuffer.allocate(Long.BYTES).putLong(5).array();
        try (Coordinator coordinator = lagging(SetData.of(path, five))) {
            assertTrue(SharedCounter.at(coordinator, path).compareAndSet(5, 6));
            assertEquals(6, SharedCounter.at(coordinator, path).get());
            assertFalse(SharedCounter.at(coordinator, path).compareAndSet(5, 7));
        }
    }

    @Test
    void keyThatAServerThatLagsDoesNotShowIsThereToo() throws Exception {
        try (Coordinator others = store.connect()) {
            Configuration.at(others, "/config").publish(ConfigBatch.EMPTY);
        }
        for (boolean isExpected : new boolean[] {false, true}) {
            String name = isExpected ? "expected" : "removed";
            ConfigKey<String> key = ConfigKey.ofText(name);
            Create write = Create.of(NodePath.of("/config/" + name)).withData(DataCodec.TEXT.encode("value"));
            ConfigBatch batch = ConfigBatch.EMPTY.remove(key);
            try (Coordinator coordinator = lagging(write)) {
                Configuration configuration = Configuration.at(coordinator, "/config");
                assertTrue(configuration.publish(
                        isExpected ? batch.expecting(key, new Versioned<>("value", 0, 0)) : batch));
                assertEquals(Optional.empty(), configuration.get(key));
            }
        }
    }

    @Test
    void publicationInAConfigurationThatWasMadeAgainIsNotRepeated() throws Exception {
        ManualTimeSource clock = new ManualTimeSource();
        Duration away = Duration.ofSeconds(1);
        ConfigKey<String> key = ConfigKey.ofText("key");
        try (Coordinator coordinator = store.connect(clock);
                Coordinator others = store.connect()) {
            Configuration configuration = Configuration.at(coordinator, "/config");
            configuration.publish(ConfigBatch.setting(key, "first"));
            Faults faults = store.faults();
            faults.reconnectAfter(away);
            faults.onNext(Multi.class::isInstance, RequestFate.DROP_AFTER);
            CompletableFuture<Boolean> published = configuration.publishAsync(ConfigBatch.setting(key, "second"));
            await().atMost(PATIENCE).until(() -> coordinator.state() == SessionState.SUSPENDED);
            faults.deleteAsOperator(NodePath.of("/config"));
            Configuration made = Configuration.at(others, "/config");
            made.publish(ConfigBatch.setting(key, "other"));
            made.publish(ConfigBatch.setting(key, "other again")); // the version is as if it had been published once
            clock.advance(away);
            ExecutionException failure =
                    assertThrows(ExecutionException.class, () -> published.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            assertInstanceOf(OutcomeUnknownException.class, failure.getCause());
            assertEquals("other again", made.get(key).orElseThrow());
        }
    }
}
