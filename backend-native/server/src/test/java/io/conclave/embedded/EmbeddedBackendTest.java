package io.conclave.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConnectException;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.spi.BackendProvider;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class EmbeddedBackendTest {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedBackendTest.class);
    private static final NodePath NODE = NodePath.of("/node");

    @TempDir
    private Path directory;

    @Test
    void theProviderIsFoundByServiceLoader() {
        assertTrue(ServiceLoader.load(BackendProvider.class).stream()
                .anyMatch(provider -> provider.type() == EmbeddedBackendProvider.class));
    }

    @Test
    void anAddressIsRefusedWithTheRule() {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> Coordinator.connect("embedded://localhost:2181"));
        assertTrue(refused.getMessage().contains("embedded server has no address"), refused.getMessage());
    }

    @Test
    void aDirectoryThatIsAFileIsRefusedByName() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "x");
        ConnectException refused = assertThrows(ConnectException.class, () -> Coordinator.connect("embedded:" + file));
        assertTrue(refused.getMessage().contains(file.toString()), refused.getMessage());
    }

    @Test
    void coordinatorsOfOneJvmShareTheStoreInMemoryUntilTheLastIsClosed() throws Exception {
        Coordinator first = Coordinator.connect("embedded:");
        try (Coordinator second = Coordinator.connect("embedded:")) {
            first.execute(Create.of(NODE));
            second.execute(GetData.of(NODE));
            first.close();
            second.execute(GetData.of(NODE));
        }
        try (Coordinator later = Coordinator.connect("embedded:")) {
            assertThrows(RefusedException.class, () -> later.execute(GetData.of(NODE)), "a store that is new");
        }
    }

    @Test
    void storesInMemoryOfOneNameAreOneAndOfTwoNamesAreTwo() throws Exception {
        try (Coordinator one = Coordinator.connect("embedded:memory/one");
                Coordinator sameOne = Coordinator.connect("embedded:memory/one");
                Coordinator other = Coordinator.connect("embedded:memory/other");
                Coordinator unnamed = Coordinator.connect("embedded:")) {
            one.execute(Create.of(NODE));
            sameOne.execute(GetData.of(NODE));
            assertThrows(RefusedException.class, () -> other.execute(GetData.of(NODE)));
            assertThrows(RefusedException.class, () -> unnamed.execute(GetData.of(NODE)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"embedded:memory", "embedded:memory/", "embedded:memory/a/b"})
    void aStoreInMemoryNeedsAName(String text) {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> Coordinator.connect(text));
        assertTrue(refused.getMessage().contains(text), refused.getMessage());
        assertTrue(refused.getMessage().contains("embedded:memory/name"), refused.getMessage());
    }

    @Test
    void allPathsToOneDirectoryAreOneStore() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("link"), Files.createDirectory(directory.resolve("d")));
        try (Coordinator one =
                        Coordinator.connect("embedded:" + directory.resolve("d").resolve("new"));
                Coordinator other = Coordinator.connect("embedded:" + link.resolve("new"))) {
            one.execute(Create.of(NODE));
            other.execute(GetData.of(NODE));
        }
    }

    @Test
    void manyComeAndGoAtOnceAndEachIsServed() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                int number = i;
                all.add(threads.submit(() -> {
                    try (Coordinator coordinator = Coordinator.connect("embedded:memory/busy")) {
                        coordinator.execute(Create.of(NodePath.of("/n" + number)));
                        return coordinator.execute(GetData.of(NodePath.of("/n" + number)));
                    }
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        } finally {
            threads.shutdown();
        }
    }

    @Test
    void usersOfOneDirectoryShareItsServerAndTheLastOneClosesIt() throws Exception {
        Coordinator first = Coordinator.connect("embedded:" + directory);
        try (Coordinator second = Coordinator.connect("embedded:" + directory.resolve("."))) {
            first.execute(Create.of(NODE));
            second.execute(GetData.of(NODE));
            first.close();
            second.execute(GetData.of(NODE));
        }
        try (Coordinator later = Coordinator.connect("embedded:" + directory)) {
            later.execute(GetData.of(NODE));
        }
    }

    @Test
    void aDirectoryInUseByAnotherServerIsRefused() {
        ServerConfig config = ServerConfig.embedded(Optional.of(directory));
        try (ConclaveServer other = ConclaveServer.start(config, TimeSource.system(), cause -> {})) {
            ConnectException refused =
                    assertThrows(ConnectException.class, () -> Coordinator.connect("embedded:" + directory));
            assertTrue(refused.getMessage().contains("in use"), refused.getMessage());
            assertEquals(true, other.state().nodeCount() > 0);
        }
    }

    /** The server would be in this process, so a coordinator that is started has nothing to wait for elsewhere. */
    @Test
    void aCoordinatorIsNotStartedInADirectoryInUseByAnotherServer() throws Exception {
        ServerConfig config = ServerConfig.embedded(Optional.of(directory));
        try (ConclaveServer other = ConclaveServer.start(config, TimeSource.system(), cause -> {})) {
            ConnectException refused =
                    assertThrows(ConnectException.class, () -> Coordinator.start("embedded:" + directory));
            assertTrue(refused.getMessage().contains("in use"), refused.getMessage());
            assertTrue(other.state().nodeCount() > 0);
        }
        try (Coordinator later = Coordinator.start("embedded:" + directory)) {
            later.execute(Create.of(NODE));
        }
    }

    /** A promise in real milliseconds, so that it is for a machine with nothing else to do. */
    @Test
    @Tag("proof")
    void fromNothingToTheFirstAnswerTakesTensOfMilliseconds() throws Exception {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 10; i++) {
            long before = System.nanoTime();
            try (Coordinator coordinator = Coordinator.connect("embedded:")) {
                coordinator.execute(Create.of(NODE));
                long tookMs = (System.nanoTime() - before) / 1_000_000;
                LOG.info("embedded: start to first answer {} ms", tookMs);
                best = Math.min(best, tookMs);
            }
        }
        assertTrue(best < 150, "the best of ten was " + best + " ms");
    }
}
