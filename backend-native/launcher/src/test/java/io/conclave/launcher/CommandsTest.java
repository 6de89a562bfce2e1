package io.conclave.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.server.ConfigFile;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class CommandsTest extends CommandsFixture {
    @Test
    void clusterIsBootstrappedOnceAndSaysWhatToDoNext() throws IOException {
        Path data = Files.createDirectories(directory.resolve("data"));
        Files.writeString(data.resolve("myid"), "2");
        Path file = Files.writeString(
                directory.resolve("zoo.cfg"),
                "dataDir=" + data + "\nserver.1=a:1;2\nserver.2=127.0.0.1:21999;21998\nserver.3=c:1;2\n");
        assertEquals(0, run("init", file.toString()), said());
        assertTrue(said().contains("with member 2."), said());
        Path secret = data.resolve("peer.secret");
        assertTrue(said().contains("Made the cluster's secret: " + secret + " (mode 600)."), said());
        assertTrue(
                said().contains("Copy that file to the servers [1, 3], each to its own dataDir, with mode 600."),
                said());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(secret)));
        assertFalse(said().contains(secretsIn(secret).get(0)), said());
        assertTrue(said().contains("Then start the servers [1, 3], with empty directories"), said());
        assertEquals(1, run("init", file.toString()), said());
        assertTrue(said().contains("holds the log of an existing cluster"), said());
        assertEquals(0, run("set-aside", file.toString()), said());
        assertTrue(said().contains("set-aside-1-identity"), said());
    }

    private static List<String> secretsIn(Path file) throws IOException {
        return Files.readAllLines(file).stream()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    @Test
    void serverOfAnEnsembleWithoutTheSecretSaysInOneLineWhatToDo() throws IOException {
        Path file = config("");
        assertEquals(1, run("start-foreground", file.toString()));
        assertEquals(
                "The server cannot start: this server has no cluster secret: " + directory.resolve("peer.secret")
                        + " is missing. Copy that file from another server of the cluster, with mode 600; a new cluster"
                        + " gets it by init on one server, and a cluster without one by new-secret (or allow that with"
                        + " peerAuthentication=none)\n",
                said());
    }

    @Test
    void newSecretIsPutInFrontOfThePresentOne() throws IOException {
        Path file = config("");
        Path secret = directory.resolve("peer.secret");
        assertEquals(0, run("new-secret", file.toString()), said());
        assertTrue(said().startsWith("Made the cluster's secret: " + secret + " (mode 600)."), said());
        String first = secretsIn(secret).get(0);
        assertEquals(0, run("new-secret", file.toString()), said());
        assertTrue(said().startsWith("Put a new secret in front of the present one: " + secret), said());
        assertTrue(said().contains("delete its last line, the old secret, everywhere"), said());
        List<String> both = secretsIn(secret);
        assertEquals(2, both.size());
        assertEquals(first, both.get(1));
        assertNotEquals(first, both.get(0));
        assertEquals(1, run("new-secret", file.toString()), said());
        assertTrue(said().startsWith(secret + " has two secrets already"), said());
        assertEquals(both, secretsIn(secret), "the second is the one that the others have");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(secret)));
        assertEquals(1, run("new-secret", config("peerAuthentication=none\n").toString()));
        assertTrue(said().contains("it has no line server.N, or it says peerAuthentication=none."), said());
    }

    private Path config(String more) throws IOException {
        Files.writeString(directory.resolve("myid"), "1");
        return Files.writeString(
                directory.resolve("zoo.cfg"),
                "clientPort=0\ndataDir=" + directory + "\nserver.1=127.0.0.1:21995\nserver.2=127.0.0.1:21994\n" + more);
    }

    @Test
    void commandsToAServerThatDoesNotRunSaySo() throws IOException {
        Path file = Files.writeString(directory.resolve("zoo.cfg"), "clientPort=0\ndataDir=" + directory + "\n");
        assertEquals(1, run("status", file.toString()));
        assertTrue(said().contains("No server of " + directory + " runs."), said());
        assertEquals(0, run("stop", file.toString()));
        assertEquals(1, run("members", file.toString()));
        assertEquals(2, run("add", file.toString(), "nonsense"));
        assertTrue(said().contains("\"nonsense\" is not of the form server.N=host:peerPort"), said());
        assertEquals(2, run("remove", file.toString(), "0"));
    }

    @Test
    void commandThatMayNotReadTheSecretOfTheServerSaysWhatItIs() throws IOException {
        Path file = Files.writeString(directory.resolve("zoo.cfg"), "clientPort=0\ndataDir=" + directory + "\n");
        ServerFiles.of(ConfigFile.read(file)).publish(2181);
        assertEquals(1, run("members", file.toString()));
        assertEquals(
                "Not done: " + directory.resolve("admin.secret") + " cannot be read:"
                        + " java.nio.file.NoSuchFileException: " + directory.resolve("admin.secret")
                        + ". It proves that the server's user gives a command; run the command as that user\n",
                said());
    }

    /** Of which the kernel says that this user may not send it a signal. */
    private static ProcessHandle ofAnotherUser() {
        return (ProcessHandle) Proxy.newProxyInstance(
                CommandsTest.class.getClassLoader(),
                new Class<?>[] {ProcessHandle.class},
                (self, method, arguments) -> {
                    return switch (method.getName()) {
                        case "destroy" -> false;
                        case "isAlive" -> true;
                        case "pid" -> 17L;
                        default -> throw new AssertionError(method.getName());
                    };
                });
    }

    @Test
    void serverThatThisUserMayNotEndIsNotWaitedFor() {
        PrintStream both = new PrintStream(output, true, StandardCharsets.UTF_8);
        assertEquals(1, Daemon.end(new Console(both, both), ofAnotherUser()));
        assertEquals("Process 17 runs still: this user may not end it. Run the command as the server's user\n", said());
    }

    @Test
    void whereTheServerWritesCanBeSaidByItsOptions() throws IOException {
        Path file = Files.writeString(directory.resolve("zoo.cfg"), "clientPort=0\ndataDir=" + directory + "\n");
        String elsewhere = "-Dconclave.audit.file=/elsewhere";
        List<String> command =
                Daemon.command(file, ServerFiles.of(ConfigFile.read(file)), Map.of("SERVER_JVMFLAGS", elsewhere));
        assertEquals(
                elsewhere,
                command.stream()
                        .filter(word -> word.startsWith("-Dconclave.audit.file="))
                        .reduce("", (former, latter) -> latter));
    }
}
