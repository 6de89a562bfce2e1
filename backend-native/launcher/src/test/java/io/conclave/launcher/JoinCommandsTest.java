package io.conclave.launcher;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigFile;
import io.conclave.testkit.proxy.FreePort;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.time.TimeSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A new server comes to a running cluster with a token, as docs/operations.md says. */
@Timeout(300)
class JoinCommandsTest {
    /**
     * A handshake has three election timeouts; on a busy machine one of TLS may take seconds. The only voter of a
     * cluster waits two of them at its start for the other server of its file.
     */
    private static final String PATIENT = "electionTimeoutMs=5000\n";

    private static final String PATIENT_WITH_TLS = "electionTimeoutMs=20000\n";

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final String lines = line(1) + line(2);

    private static String line(int id) {
        return "server." + id + "=127.0.0.1:" + FreePort.find() + ";127.0.0.1:" + FreePort.find() + "\n";
    }

    private int run(String... arguments) {
        out.reset();
        err.reset();
        return Main.run(
                arguments,
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private String said() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String complaint() {
        return err.toString(StandardCharsets.UTF_8);
    }

    private Path config(int id) throws IOException {
        Path data = Files.createDirectories(directory.resolve("server-" + id));
        Files.writeString(data.resolve("myid"), id + "\n");
        return Files.writeString(
                directory.resolve(id + ".cfg"), "dataDir=" + data + "\npreAllocSize=8192\n" + PATIENT + lines);
    }

    private Path secret(int id) {
        return directory.resolve("server-" + id).resolve("peer.secret");
    }

    private static ConclaveServer start(Path config) {
        return ConclaveServer.start(ConfigFile.read(config), TimeSource.system(), cause -> {});
    }

    @Test
    void newServerIsGivenTheSecretForATokenAndJoins() throws IOException {
        String first = config(1).toString();
        String second = config(2).toString();
        assertEquals(0, run("init", first), complaint());
        assertEquals(1, run("join-token", first));
        assertTrue(complaint().contains("runs; make the token on a machine where one does."), complaint());
        try (ConclaveServer one = start(config(1))) {
            await().until(one::isServing);
            ServerFiles.of(ConfigFile.read(config(1))).publish(one.clientPort().orElseThrow());
            assertEquals(0, run("join-token", first, "--minutes", "5"), complaint());
            String token = said().strip();
            assertEquals(59, token.length(), "nothing but the token");
            assertTrue(complaint().startsWith("Valid once, for 5 minutes."), complaint());
            Path carried = Files.writeString(directory.resolve("token"), token + "\n");

            assertEquals(2, run("join", second, wrong(token).toString()));
            assertTrue(complaint().startsWith("this join token was changed on its way"), complaint());
            assertEquals(0, run("join", second, carried.toString()), complaint());
            assertTrue(said().startsWith("Server 1 gave the cluster's secret: " + secret(2) + " (mode 600)."), said());
            assertEquals(Files.readString(secret(1)), Files.readString(secret(2)));
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(secret(2))));
            assertFalse((said() + complaint())
                    .contains(Files.readAllLines(secret(1)).get(1)));

            assertEquals(1, run("join", second, carried.toString()));
            assertTrue(complaint().startsWith(secret(2) + " is there already"), complaint());
            Files.move(secret(2), directory.resolve("kept"));
            assertEquals(1, run("join", second, carried.toString()));
            assertTrue(complaint().contains("knows no valid join token of this name"), complaint());
            assertFalse(Files.exists(secret(2)));
            Files.move(directory.resolve("kept"), secret(2));
            try (ConclaveServer two = start(config(2))) {
                await().until(() -> two.isServing()
                        && one.logStatus().configuration().voters().equals(Set.of(1, 2)));
            }
        }
        try (Stream<Path> files = Files.list(directory.resolve("server-1"))) {
            assertEquals(
                    0, files.filter(file -> file.toString().endsWith(".token")).count());
        }
    }

    /** The server that runs does not list it, so it learns by add for which host the certificate must be. */
    @Test
    void newServerIsGivenTheSecretAndAddedOverTls() throws IOException {
        CertificateAuthority authority = new CertificateAuthority("CN=our authority");
        String own = line(1);
        String added = line(2).strip();
        Path first = configWithTls(1, own, authority);
        Path second = configWithTls(2, own + added + "\n", authority);
        try (ConclaveServer one = start(first)) {
            ServerFiles.of(ConfigFile.read(first)).publish(one.clientPort().orElseThrow());
            assertEquals(0, run("join-token", first.toString()), complaint());
            Path token = Files.writeString(directory.resolve("token"), said());
            assertEquals(0, run("join", second.toString(), token.toString()), complaint());
            try (ConclaveServer two = start(second)) {
                assertEquals(0, run("add", first.toString(), added), complaint());
                await().until(() -> two.isServing()
                        && one.logStatus().configuration().voters().equals(Set.of(1, 2)));
            }
        }
    }

    private Path configWithTls(int id, String servers, CertificateAuthority authority) throws IOException {
        Path data = Files.createDirectories(directory.resolve("server-" + id));
        Files.writeString(data.resolve("myid"), id + "\n");
        Path own = authority.issue("CN=server " + id, "127.0.0.1").writePem(data.resolve("own.pem"));
        Path trust = authority.writePem(data.resolve("trust.pem"));
        return Files.writeString(
                directory.resolve(id + ".cfg"),
                "dataDir=" + data + "\npreAllocSize=8192\n" + PATIENT_WITH_TLS
                        + "sslQuorum=true\nssl.quorum.keyStore.location=" + own + "\nssl.quorum.trustStore.location="
                        + trust + "\n" + servers);
    }

    private Path wrong(String token) throws IOException {
        char[] changed = token.toCharArray();
        changed[30] = changed[30] == 'a' ? 'b' : 'a';
        return Files.writeString(directory.resolve("wrong"), new String(changed));
    }

    @Test
    void commandsThatCannotBeSayWhy() throws IOException {
        String second = config(2).toString();
        Path token = Files.writeString(
                directory.resolve("token"),
                io.conclave.consensus.JoinToken.random(7).text());
        assertEquals(1, run("join", second, token.toString()));
        assertEquals("The token was made by server 7, which has no line in " + second + ".\n", complaint());
        Files.writeString(token, io.conclave.consensus.JoinToken.random(2).text());
        assertEquals(1, run("join", second, token.toString()));
        assertEquals("The token was made by server 2, which is this one.\n", complaint());
        Files.writeString(token, io.conclave.consensus.JoinToken.random(1).text());
        assertEquals(1, run("join", second, token.toString()));
        assertTrue(complaint().contains("has not given the cluster's secret: java.net.ConnectException"), complaint());
        assertEquals(1, run("join", second, directory.resolve("missing").toString()));
        assertTrue(complaint().contains("the join token, cannot be read: "), complaint());
        String bare = io.conclave.consensus.JoinToken.random(1).text();
        assertEquals(2, run("join", second, bare));
        assertTrue(complaint().startsWith("a join token cannot stand on the command line"), complaint());
        assertFalse(complaint().contains(bare), complaint());
        assertEquals(2, run("join", bare), "the configuration is forgotten");
        assertFalse(complaint().contains(bare), complaint());
        assertEquals(1, run("join", second, "join-token"), "a file of that name");
        assertTrue(complaint().contains("join-token, the join token, cannot be read: "), complaint());
        for (String minutes : new String[] {"0", "10081", "x"}) {
            assertEquals(2, run("join-token", second, "--minutes", minutes));
            assertTrue(complaint().contains("--minutes N, with N from 1 to 10080, not --minutes " + minutes));
        }
        Path none = Files.writeString(
                directory.resolve("none.cfg"), Files.readString(config(2)) + "peerAuthentication=none\n");
        assertEquals(1, run("join-token", none.toString()));
        assertEquals(1, run("join", none.toString(), token.toString()));
        assertTrue(complaint().startsWith("Members have no secret by " + none), complaint());
    }
}
