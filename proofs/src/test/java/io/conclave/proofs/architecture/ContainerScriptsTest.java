package io.conclave.proofs.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts of the container's image, without a container: a stand-in writes down how the server was called. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "the scripts are for images of Linux")
@Timeout(300)
class ContainerScriptsTest {
    private static final Path SCRIPTS =
            Path.of("..", "backend-native", "distribution", "docker").toAbsolutePath();
    private static final String STAND_IN = """
            #!/bin/bash
            echo "$*" >> "$CALLS"
            echo "${JVM_FLAGS:-}" > "$CALLS.flags"
            """;

    @TempDir
    private Path directory;

    private final Map<String, String> variables = new HashMap<>();
    private Path configuration = Path.of("");
    private Path data = Path.of("");
    private String output = "";

    @BeforeEach
    void makeFolders() throws IOException {
        Path bin = Files.createDirectory(directory.resolve("bin"));
        Path standIn = Files.writeString(bin.resolve("conclave-server"), STAND_IN);
        Files.setPosixFilePermissions(standIn, PosixFilePermissions.fromString("rwxr-xr-x"));
        data = Files.createDirectory(directory.resolve("data"));
        configuration = Files.createDirectory(directory.resolve("conf")).resolve("zoo.cfg");
        variables.put("PATH", bin + ":" + System.getenv("PATH"));
        variables.put("CALLS", directory.resolve("calls").toString());
        variables.put("ZOO_CONF_DIR", configuration.getParent().toString());
        variables.put("ZOO_DATA_DIR", data.toString());
        variables.put("ZOO_DATA_LOG_DIR", directory.resolve("log").toString());
        variables.put("ZOO_LOG_DIR", directory.toString());
    }

    private int run(String script, String... words) throws Exception {
        List<String> command = new ArrayList<>(List.of(SCRIPTS.resolve(script).toString()));
        command.addAll(List.of(words));
        return run(command);
    }

    private int run(List<String> command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().putAll(variables);
        Process process = builder.start();
        output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor();
    }

    private List<String> calls() throws IOException {
        Path calls = directory.resolve("calls");
        return Files.exists(calls) ? Files.readAllLines(calls) : List.of();
    }

    private String startForeground() {
        return "start-foreground " + configuration;
    }

    @Test
    void offlineCommandFindsTheConfigurationOfTheVariables() throws Exception {
        variables.put("ZOO_MY_ID", "2");
        variables.put("ZOO_SERVERS", "server.1=a:2888;2181 server.2=b:2888;2181");
        variables.put("CONCLAVE_INIT", "2");
        variables.put("JVMFLAGS", "-Dof.all=1");
        variables.put("SERVER_JVMFLAGS", "-Dof.server=1");
        assertEquals(0, run("conclave-container", "conclave-server", "set-aside", configuration.toString()), output);
        assertEquals(List.of("set-aside " + configuration), calls());
        assertTrue(Files.readString(configuration).contains("server.2=b:2888;2181\n"));
        assertEquals("2\n", Files.readString(data.resolve("myid")));
        String flags = Files.readString(directory.resolve("calls.flags"));
        assertTrue(flags.contains("-Dof.all=1") && !flags.contains("-Dof.server=1"), flags);
    }

    @Test
    void otherWordsAreRunAndNothingIsMade() throws Exception {
        assertEquals(0, run("conclave-container", "echo", "hello"), output);
        assertEquals("hello\n", output);
        assertEquals(0, run("conclave-container", "conclave-server", "verify", "/backup"), output);
        assertEquals(List.of("verify /backup"), calls());
        assertFalse(Files.exists(configuration));
        assertFalse(Files.exists(data.resolve("myid")));
    }

    @Test
    void wordsOfTheOfficialImageServeAndAskForTheHealth() throws Exception {
        variables.merge("PATH", SCRIPTS + ":", (path, scripts) -> scripts + path);
        assertEquals(0, run("conclave-container", "zkServer.sh", "start-foreground"), output);
        assertEquals(List.of(startForeground()), calls());
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"))) {
            Files.writeString(configuration, "clientPort=" + server.getLocalPort() + "\n");
            CompletableFuture<String> asked = CompletableFuture.supplyAsync(() -> answer(server));
            assertEquals(0, run("zkServer.sh", "status"), output);
            assertEquals("Mode: follower\n", output);
            assertEquals("srvr", asked.join());
        }
        assertEquals(1, run("conclave-container", "zkServer.sh", "status"), output);
        assertEquals(2, run("zkServer.sh", "restart"), output);
        assertTrue(output.contains("start-foreground"), output);
    }

    @ParameterizedTest
    @ValueSource(strings = {"data", "log", "conf"})
    void folderThatCannotBeWrittenIsNamedWithTheRemedy(String name) throws Exception {
        Path folder = directory.resolve(name);
        Files.createDirectories(folder);
        openToOthers(directory);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("r-xr-xr-x"));
        assertEquals(1, runAsAnOrdinaryUser("conclave-container"), output);
        assertTrue(output.startsWith(folder + " cannot be written by user "), output);
        assertTrue(output.contains("chown"), output);
        assertEquals(1, output.lines().count(), output);
        assertEquals(List.of(), calls());
    }

    /** Nothing is closed to root. Its own copy of the scripts, for others may not read the folders of these. */
    private int runAsAnOrdinaryUser(String script) throws Exception {
        Path bin = directory.resolve("bin");
        for (String name : List.of(script, "conclave-settings")) {
            Files.copy(SCRIPTS.resolve(name), bin.resolve(name), StandardCopyOption.COPY_ATTRIBUTES);
        }
        List<String> command = new ArrayList<>();
        if (System.getProperty("user.name").equals("root")) {
            command.addAll(List.of("setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"));
        }
        command.add(bin.resolve(script).toString());
        return run(command);
    }

    private static void openToOthers(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.toList()) {
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxrwxrwx"));
            }
        }
    }

    @Test
    void clusterIsMadeOnceByTheOneThatIsToMakeIt() throws Exception {
        variables.put("ZOO_SERVERS", "server.1=a:2888;2181 server.2=b:2888;2181");
        variables.put("CONCLAVE_INIT", "1");
        assertEquals(0, run("conclave-container"), output);
        assertEquals(List.of("init " + configuration, startForeground()), calls());
        Files.createDirectories(directory.resolve("log/log/identity"));
        assertEquals(0, run("conclave-container"), output);
        assertEquals(List.of("init " + configuration, startForeground(), startForeground()), calls());
    }

    @Test
    void secretThatWasReplacedDoesNotComeBackAtTheNextStart() throws Exception {
        Path mounted = Files.writeString(directory.resolve("mounted-secret"), "first\n");
        Path secret = data.resolve("peer.secret");
        variables.put("CONCLAVE_PEER_SECRET_FILE", mounted.toString());
        assertEquals(0, run("conclave-container"), output);
        assertEquals("first\n", Files.readString(secret));
        assertEquals(
                PosixFilePermissions.fromString("rw-------"),
                Files.getPosixFilePermissions(secret),
                "others may not read it");
        Files.writeString(secret, "second\nfirst\n"); // new-secret
        assertEquals(0, run("conclave-container", "conclave-server", "set-aside", configuration.toString()), output);
        assertEquals(0, run("conclave-container"), output);
        assertEquals("second\nfirst\n", Files.readString(secret));
        Files.writeString(mounted, "second\n");
        assertEquals(0, run("conclave-container"), output);
        assertEquals("second\n", Files.readString(secret), "what is mounted has changed");
        Files.delete(secret);
        assertEquals(0, run("conclave-container"), output);
        assertEquals("second\n", Files.readString(secret), "there was none");
    }

    /** Its secret is there before its first start, which then makes no cluster by itself. */
    @Test
    void clusterOfOneServerWithALineIsMadeIfThatIsAskedFor() throws Exception {
        variables.put("ZOO_SERVERS", "server.1=a:2888;2181");
        assertEquals(0, run("conclave-container"), output);
        assertEquals(List.of(startForeground()), calls());
        variables.put("CONCLAVE_INIT", "1");
        assertEquals(0, run("conclave-container"), output);
        assertEquals(List.of(startForeground(), "init " + configuration, startForeground()), calls());
    }

    @Test
    void theOneThatMakesTheClusterWaitsIfItsLogWasSetAside() throws Exception {
        variables.put("ZOO_SERVERS", "server.1=a:2888;2181 server.2=b:2888;2181");
        variables.put("CONCLAVE_INIT", "1");
        initAnswers("the log in /datalog/log was set aside: its member can only join the others");
        assertEquals(0, run("conclave-container"), output);
        assertTrue(output.contains("waits until the others take it in"), output);
        assertEquals(List.of("init " + configuration, startForeground()), calls());
    }

    @Test
    void theOneThatMakesTheClusterEndsIfItCannot() throws Exception {
        variables.put("ZOO_SERVERS", "server.1=a:2888;2181 server.2=b:2888;2181");
        variables.put("CONCLAVE_INIT", "1");
        initAnswers("a cluster cannot begin in /datalog/log: no space");
        assertEquals(1, run("conclave-container"), output);
        assertEquals(List.of("init " + configuration), calls());
    }

    private void initAnswers(String refusal) throws IOException {
        String failing = STAND_IN + "[ \"$1\" != init ] || { echo '" + refusal + "' >&2; exit 1; }\n";
        Files.writeString(directory.resolve("bin/conclave-server"), failing);
    }

    /** As ConfigFile reads it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "dataDir = %s\nserver.1 = a:2888;2181\n server.2=b:2888;2181\n",
                "#dataLogDir=/none\n  dataDir=/none\n\tdataLogDir\t= %s \r\nserver.1=a:2888\nserver.2=b:2888",
                "zookeeper.dataDir=%s\nserver.1=a:2888\nserver.2=b:2888\n",
            })
    void mountedConfigurationIsReadAsTheServerReadsIt(String text) throws Exception {
        Files.writeString(configuration, text.formatted(directory.resolve("mounted")));
        Files.writeString(data.resolve("myid"), " 1 "); // without an end of the line
        variables.put("CONCLAVE_INIT", "1");
        assertEquals(0, run("conclave-container"), output);
        assertEquals(List.of("init " + configuration, startForeground()), calls());
        Files.createDirectories(directory.resolve("mounted/log/identity"));
        assertEquals(0, run("conclave-container"), output);
        assertEquals(List.of("init " + configuration, startForeground(), startForeground()), calls());
    }

    @Test
    void serversMayBeInAFileOfTheirOwn() throws Exception {
        Path servers = Files.writeString(directory.resolve("servers"), "server.1=a:2888;2181\nserver.2=b:2888;2181\n");
        Files.writeString(configuration, "dataDir=" + data + "\ndynamicConfigFile=" + servers + "\n");
        variables.put("CONCLAVE_INIT", "1");
        assertEquals(0, run("conclave-container"), output);
        assertEquals(List.of("init " + configuration, startForeground()), calls());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "clientPort = %d\n",
                "clientPort=1\n#clientPort=2\n  server.3 = a:2888:3888;%d\n",
                "clientPort=%d\nclientPortAddress = localhost\n",
                "server.3=a:2888:3888:participant;127.0.0.1:%d\n",
            })
    void healthIsAskedForWhereTheConfigurationSays(String text) throws Exception {
        Files.writeString(data.resolve("myid"), "3\n");
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"))) {
            Files.writeString(configuration, text.formatted(server.getLocalPort()));
            CompletableFuture<String> asked = CompletableFuture.supplyAsync(() -> answer(server));
            assertEquals(0, run("conclave-health"), output);
            assertEquals("follower\n", output);
            assertEquals("srvr", asked.join());
        }
    }

    private static String answer(ServerSocket server) {
        try (Socket client = server.accept()) {
            String word = new String(client.getInputStream().readNBytes(4), StandardCharsets.US_ASCII);
            client.getOutputStream()
                    .write("Zxid: 0x1\nMode: follower\nNode count: 1\n".getBytes(StandardCharsets.US_ASCII));
            return word;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
