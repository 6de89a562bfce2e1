package io.conclave.proofs.architecture;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.proxy.FreePort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands of docs/operations.md for three servers, as they stand there, with the distribution and real processes.
 * Each host is a folder, and {@code scp} copies from one to another.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "the commands are those of a shell there")
@Timeout(900)
class OperationsPageIT {
    private static final int HOSTS = 3;
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final Path PAGE = Path.of("../docs/operations.md");
    private static final Pattern BLOCK = Pattern.compile("(?s)\n```\n(.*?\n)```\n");
    private static final Pattern PROCESS = Pattern.compile("process (\\d+)");
    private static final String DATA = "/var/lib/conclave"; // on the page

    @TempDir
    private Path directory;

    private final List<ProcessHandle> servers = new ArrayList<>();
    private String page = "";

    @BeforeEach
    void setUpHosts() throws IOException {
        page = Files.readString(PAGE);
        String settings = blocks("## Three servers").get(0);
        for (int host = 1; host <= HOSTS; host++) {
            String onPage = "host" + host + ":2888;2181";
            assertTrue(settings.contains(onPage), settings);
            settings = settings.replace(onPage, "127.0.0.1:" + FreePort.find() + ";" + FreePort.find());
        }
        Path distribution = DistributionIT.distribution().toRealPath();
        for (int host = 1; host <= HOSTS; host++) {
            Path home = Files.createDirectory(folder(host));
            Files.createSymbolicLink(home.resolve("lib"), distribution.resolve("lib"));
            for (String copied : List.of("bin", "conf")) {
                Files.createDirectory(home.resolve(copied));
                try (Stream<Path> files = Files.list(distribution.resolve(copied))) {
                    for (Path file : files.toList()) {
                        Files.copy(file, home.resolve(copied).resolve(file.getFileName()));
                    }
                }
            }
            Path configuration = home.resolve("conf/zoo.cfg");
            String shipped = Files.readString(configuration)
                    .replaceFirst("(?m)^dataDir=.*\n", "")
                    .replaceFirst("(?m)^clientPort=.*\n", "");
            String patience = "initLimit=300\n"; // on a busy machine
            Files.writeString(configuration, shipped + patience + onHost(host, settings));
        }
        Path scp = Files.createDirectory(directory.resolve("tools")).resolve("scp");
        Files.writeString(scp, "#!/bin/sh\nexec cp \"$1\" \"$2\" " + directory + "/\"${3%%:*}\"/data/\n");
        Files.setPosixFilePermissions(scp, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @AfterEach
    void endServers() {
        servers.forEach(server -> {
            server.destroyForcibly();
            server.onExit().join();
        });
    }

    @Test
    void threeServersAreSetUpAndStoppedAsThePageSays() throws Exception {
        List<String> commands = blocks("## Three servers").get(1).lines().toList();
        assertEquals(5, commands.size(), commands::toString);
        for (int host = 1; host <= HOSTS; host++) {
            run(host, command(commands, "mkdir").replace("echo 1", "echo " + host));
        }
        run(1, command(commands, "init"));
        for (int host = 2; host <= HOSTS; host++) {
            run(1, command(commands, "scp").replace("host2", "host" + host));
        }
        for (int host = 1; host <= HOSTS; host++) {
            start(host, command(commands, "start"));
        }
        await().atMost(PATIENCE).untilAsserted(() -> assertEquals(HOSTS, participants(command(commands, "members"))));
        List<String> ofOneServer = blocks("## One server").get(0).lines().toList();
        for (int host = HOSTS; host >= 1; host--) {
            String status = run(host, command(ofOneServer, "status"));
            assertTrue(status.contains("Mode: "), status);
        }
        for (int host = HOSTS; host >= 1; host--) {
            run(host, command(ofOneServer, "stop"));
        }
        for (ProcessHandle server : servers) {
            server.onExit().get();
        }
    }

    private long participants(String members) throws Exception {
        return run(1, members)
                .lines()
                .filter(line -> line.matches("server\\.\\d=.*:participant;.*"))
                .count();
    }

    private List<String> blocks(String heading) {
        String section = page.substring(page.indexOf(heading + "\n"));
        return BLOCK.matcher(section).results().map(block -> block.group(1)).toList();
    }

    /** The line that has the word as a command, without the comment behind it. */
    private static String command(List<String> lines, String word) {
        List<String> found = lines.stream()
                .filter(line -> line.matches("(\\S+ )?" + word + " .*"))
                .toList();
        assertEquals(1, found.size(), () -> word + ": " + found);
        return found.get(0).replaceFirst(" +# .*", "");
    }

    private void start(int host, String command) throws Exception {
        servers.add(ProcessHandle.of(PROCESS.matcher(run(host, command))
                        .results()
                        .findFirst()
                        .map(process -> Long.parseLong(process.group(1)))
                        .orElseThrow())
                .orElseThrow());
    }

    /** Runs it in the folder of the distribution, as on that host. What it printed. */
    private String run(int host, String command) throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        ProcessBuilder shell = new ProcessBuilder("sh", "-c", onHost(host, command))
                .directory(folder(host).toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        Map<String, String> environment = shell.environment();
        environment.put("PATH", directory.resolve("tools") + ":" + environment.get("PATH"));
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("JVM_FLAGS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m");
        int status = shell.start().waitFor();
        String printed = Files.readString(output);
        assertEquals(0, status, () -> command + ": " + printed);
        return printed;
    }

    private String onHost(int host, String text) {
        return text.replace(DATA, folder(host).resolve("data").toString());
    }

    private Path folder(int host) {
        return directory.resolve("host" + host);
    }
}
