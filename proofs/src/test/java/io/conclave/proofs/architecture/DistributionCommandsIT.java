package io.conclave.proofs.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.proxy.FreePort;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The script that an operator calls: a server in the background, and the commands beside it. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "the options of a process are read there")
@Timeout(900)
class DistributionCommandsIT {
    private static final Pattern PROCESS = Pattern.compile("process (\\d+)");

    @TempDir
    private Path directory;

    private final Map<String, String> variables = new HashMap<>();
    private Path configuration = Path.of("");
    private String output = "";
    private String complaint = "";
    private Optional<ProcessHandle> server = Optional.empty();

    @BeforeEach
    void writeConfiguration() throws IOException {
        configuration = Files.writeString(
                directory.resolve("zoo.cfg"), "dataDir=" + directory + "\nclientPort=0\ninitLimit=300\n");
    }

    @AfterEach
    void endServer() {
        server.ifPresent(process -> {
            process.destroyForcibly();
            process.onExit().join();
        });
    }

    private int run(String command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                DistributionIT.distribution()
                        .resolve("bin/conclave-server")
                        .toAbsolutePath()
                        .toString(),
                command,
                configuration.toString());
        builder.environment().keySet().removeIf(name -> name.endsWith("FLAGS"));
        builder.environment().putAll(variables);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Path said = directory.resolve("said");
        Path complained = directory.resolve("complained");
        int status = builder.redirectOutput(said.toFile())
                .redirectError(complained.toFile())
                .start()
                .waitFor();
        output = Files.readString(said);
        complaint = Files.readString(complained);
        Matcher process = PROCESS.matcher(output);
        if (command.equals("start") && process.find()) {
            server = ProcessHandle.of(Long.parseLong(process.group(1)));
        }
        return status;
    }

    private List<String> optionsOfTheServer() throws IOException {
        byte[] line = Files.readAllBytes(Path.of("/proc/" + server.orElseThrow().pid() + "/cmdline"));
        return List.of(new String(line, StandardCharsets.UTF_8).split("\0"));
    }

    /** A debugger's port stands for any that a process opens: of JMX, or of an agent with metrics. */
    @Test
    void onlyTheServerOpensThePortOfItsOptions() throws Exception {
        String debugger = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:" + FreePort.find();
        variables.put("SERVER_JVMFLAGS", debugger);
        assertEquals(0, run("start"), () -> output + complaint);
        assertTrue(output.contains("Conclave is ready on port "), output);
        assertTrue(optionsOfTheServer().contains(debugger));
        assertEquals(0, run("status"), () -> output + complaint);
        assertTrue(output.contains("Mode: standalone"), output);
        assertEquals(0, run("members"), () -> output + complaint);
        assertEquals(0, run("stop"), () -> output + complaint);
        assertEquals("The server has ended in order.\n", output);
    }

    @Test
    void serverInTheBackgroundHasItsOptionsOnceAndNotThoseOfTheCommands() throws Exception {
        variables.put("JVM_FLAGS", " -Dof.all=1  -Xmx200m ");
        variables.put("SERVER_JVMFLAGS", "-Xmx300m");
        variables.put("CLIENT_JVMFLAGS", "-Dof.commands=1");
        variables.put("JAVA_TOOL_OPTIONS", "-Dof.java=1");
        assertEquals(0, run("start"), () -> output + complaint);
        List<String> options = new ArrayList<>(optionsOfTheServer());
        assertEquals(1, Collections.frequency(options, "-Dof.all=1"), options.toString());
        assertEquals(0, Collections.frequency(options, "-Dof.commands=1"), options.toString());
        assertEquals(0, Collections.frequency(options, "-Dof.java=1"), "Java reads them itself");
        options.removeIf(option -> !option.startsWith("-Xmx"));
        assertEquals(List.of("-Xmx200m", "-Xmx300m"), options, "the last one counts");
    }

    @Test
    void onlyAServerWithoutMemoryEndsAtOnce() throws Exception {
        variables.put("JVM_FLAGS", "-XX:+PrintCommandLineFlags");
        assertEquals(0, run("start"), () -> output + complaint);
        assertTrue(optionsOfTheServer().contains("-XX:+ExitOnOutOfMemoryError"));
        assertEquals(0, run("status"), () -> output + complaint);
        assertTrue(output.contains("-XX:+PrintCommandLineFlags"), output);
        assertFalse(output.contains("ExitOnOutOfMemoryError"), output);
    }

    /** As on a disk that is full. */
    @Test
    void serverServesAlthoughItCannotTellTheCommandsOfItself() throws Exception {
        Files.createDirectories(directory.resolve("conclave-server.pid/not-empty"));
        assertEquals(0, run("start"), () -> output + complaint);
        assertTrue(output.contains("Conclave is ready on port "), output);
        assertTrue(server.orElseThrow().isAlive());
        String log = Files.readString(directory.resolve("conclave-server.log"));
        assertTrue(log.contains("conclave-server.pid cannot be written, so commands do not find this server"), log);
    }

    /** Both come to the server as well when a script has started it. */
    @Test
    void serverInTheBackgroundIgnoresTheEndOfTheTerminalAndAnInterrupt() throws Exception {
        assertEquals(0, run("start"), () -> output + complaint);
        String ignored = Files.readAllLines(
                        Path.of("/proc/" + server.orElseThrow().pid() + "/status"))
                .stream()
                .filter(line -> line.startsWith("SigIgn:"))
                .findFirst()
                .orElseThrow()
                .replaceAll(".*\\s", "");
        assertEquals(3, Long.parseUnsignedLong(ignored, 16) & 3, "SIGHUP is 1, and SIGINT 2");
    }

    /** What follows a pipe reads the answer alone, such as the token that join takes. */
    @Test
    void logOfACommandIsNotAmongItsAnswers() throws Exception {
        Files.writeString(configuration, "jute.maxbuffer=4194304\n", StandardOpenOption.APPEND);
        assertEquals(0, run("init"), () -> output + complaint);
        assertTrue(output.startsWith("Bootstrapped a new cluster"), output);
        assertTrue(complaint.contains("jute.maxbuffer=4194304 is not in force"), complaint);
    }
}
