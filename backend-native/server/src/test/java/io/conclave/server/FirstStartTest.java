package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.entry.DiskClaim;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.Start;
import io.conclave.testkit.proxy.FreePort;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server that lists only itself makes a cluster at its first start, and none when its disk was lost: the cluster that
 * it belongs to may have grown since its file was written.
 */
@Timeout(300)
class FirstStartTest {
    @TempDir
    private Path home;

    private ServerConfig config() {
        return config(
                EnsembleConfig.of(1, Map.of(1, new EnsembleMember(1, 0, "127.0.0.1", FreePort.find(), "", 0, false))));
    }

    private ServerConfig config(EnsembleConfig ensemble) {
        return TestServer.config()
                .homeDirectory(Optional.of(home))
                .dataDirectory(Optional.of(log()))
                .ensemble(ensemble)
                .build();
    }

    private Path log() {
        return home.resolve("log");
    }

    private Path secret() {
        return home.resolve("peer.secret");
    }

    private void loseTheLog() throws IOException {
        Files.move(log(), home.resolve("lost"));
    }

    @Test
    void firstStartMakesClusterAndSecret() {
        try (ConclaveServer first = TestServer.start(config())) {
            assertTrue(first.isServing());
        }
        assertTrue(Files.exists(secret()));
        try (ConclaveServer again = TestServer.start(config())) {
            assertTrue(again.isServing());
        }
    }

    @Test
    void serverThatHasLostItsDiskMakesNoClusterOfItsOwn() throws IOException {
        TestServer.start(config()).close();
        loseTheLog();
        String refusal = String.valueOf(assertThrows(ServerStartException.class, () -> TestServer.start(config())
                        .close())
                .getMessage());
        assertTrue(refusal.contains("add the server.N lines of the other members"), refusal);
        assertTrue(refusal.contains("init"), refusal);
        assertFalse(Files.exists(log().resolve("identity")), "it is a new cluster");
    }

    /** As after a crash between the two, or where the secret is part of what a machine is set up with. */
    @Test
    void operatorMakesTheClusterOfAServerThatHadItsSecretBefore() throws IOException {
        PeerSecretFile.of(config()).makeIfMissing();
        assertThrows(
                ServerStartException.class, () -> TestServer.start(config()).close());
        assertEquals(Optional.empty(), LogMaintenance.bootstrap(config(), TimeSource.system()));
        try (ConclaveServer made = TestServer.start(config())) {
            assertTrue(made.isServing());
        }
    }

    /** It dials only those that its file lists, so nobody would take it in. */
    @Test
    void memberWhoseLogWasSetAsideIsRefusedUnlessItsFileListsTheOthers() {
        TestServer.start(config()).close();
        LogMaintenance.setLogAside(config());
        String refusal = refusalOf(() -> TestServer.start(config()).close());
        assertTrue(refusal.contains("add the server.N lines of the others"), refusal);
        assertFalse(Files.exists(log().resolve("identity")), "it is a new cluster");
        String ofInit = refusalOf(() -> LogMaintenance.bootstrap(config(), TimeSource.system()));
        assertTrue(ofInit.contains("was set aside"), "the container looks for these words: " + ofInit);

        int peerPort = FreePort.find();
        EnsembleMember self = new EnsembleMember(1, 0, "127.0.0.1", peerPort, "", 0, false);
        EnsembleMember other = new EnsembleMember(2, 0, "127.0.0.1", 1, "", 0, false);
        try (ConclaveServer server = TestServer.start(config(EnsembleConfig.of(1, Map.of(1, self, 2, other))))) {
            assertEquals(LogRole.JOINING, server.logStatus().role());
        }
    }

    private static String refusalOf(Executable start) {
        return String.valueOf(assertThrows(LogException.class, start).getMessage());
    }

    @Test
    void firstStartThatFailedCanBeRepeated() {
        assertThrows(IllegalStateException.class, () -> ConclaveServer.start(
                        config(),
                        (options, loop) -> {
                            throw new IllegalStateException("as for a wrong file of keys");
                        },
                        TimeSource.system(),
                        cause -> {})
                .close());
        assertFalse(Files.exists(secret()), "the next start would take this one for one that has lost its disk");
        try (ConclaveServer server = TestServer.start(config())) {
            assertTrue(server.isServing());
        }
    }

    @Test
    void secretOfAClusterStaysWhenItsFirstStartFailsLater() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
            ServerConfig config = TestServer.config()
                    .clientPort(taken.getLocalPort())
                    .homeDirectory(Optional.of(home))
                    .dataDirectory(Optional.of(log()))
                    .ensemble(config().ensemble())
                    .build();
            assertThrows(
                    ServerStartException.class, () -> TestServer.start(config).close());
        }
        assertTrue(Files.exists(secret()));
        try (ConclaveServer server = TestServer.start(config())) {
            assertTrue(server.isServing());
        }
    }

    /** No majority of others can settle that: an operator does, while the server runs and says so. */
    @Test
    void onlyVoterWhoseDiskIsSaidToHaveBeenSetBackCanBeAskedWhy() throws IOException {
        TestServer.start(config()).close();
        DiskClaim claim = new DiskClaim(new Start(1, 1, 1), 1, "a claim");
        Files.writeString(log().resolve("claim"), claim.line() + "\n");
        try (ConclaveServer server = TestServer.start(config())) {
            assertFalse(server.isServing());
            assertFalse(server.logStatus().noLeaderReason().isEmpty());
        }
    }

    @Test
    void serverWithoutALineOfItsOwnHasNoOthersAndBeginsAnew() throws IOException {
        TestServer.start(config(EnsembleConfig.alone(1))).close();
        loseTheLog();
        try (ConclaveServer server = TestServer.start(config(EnsembleConfig.alone(1)))) {
            assertTrue(server.isServing());
        }
        LogMaintenance.setLogAside(config(EnsembleConfig.alone(1)));
        assertThrows(LogException.class, () -> TestServer.start(config(EnsembleConfig.alone(1)))
                .close());
    }

    @Test
    void whereNoSecretIsUsedAnEmptyDirectoryIsAFirstStart() {
        PeerSecretFile.of(config()).makeIfMissing();
        EnsembleConfig ensemble = config().ensemble().withAuthentication(PeerAuthentication.NONE, Optional.empty());
        try (ConclaveServer server = TestServer.start(config(ensemble))) {
            assertTrue(server.isServing());
        }
    }
}
