package io.conclave.proofs.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.proofs.faults.ChildJvm;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Client and servers on Netty 4.1, which frameworks such as Spring Boot 3 put in the place of 4.2; the build has copied
 * its jars to {@code target/netty-4.1}.
 */
class OlderNettyIT {
    private static final int PATIENCE_S = 1_500;
    private static final List<String> CONTRACTS = List.of(
            "LockContractIT$Embedded",
            "ConfigurationContractIT$Embedded",
            "LockContractIT$Standalone",
            "BackendContractIT$Standalone",
            "LockContractIT$Ensemble");

    @TempDir
    Path directory;

    @Test
    @Timeout(1_800)
    void contractsHoldOnNetty41() throws Exception {
        Path log = directory.resolve("log");
        List<String> arguments = List.of("1", String.join(",", CONTRACTS), "2");
        List<String> command = ChildJvm.command(List.of("-Xmx512m"), Repetition.class.getName(), arguments).stream()
                .map(word -> word.equals(System.getProperty("java.class.path")) ? classPath() : word)
                .toList();
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertTrue(process.waitFor(PATIENCE_S, TimeUnit.SECONDS), () -> "not done: " + ChildJvm.textOf(log));
            String text = ChildJvm.textOf(log);
            assertEquals(0, process.exitValue(), text);
            for (String contract : CONTRACTS) {
                assertTrue(text.contains(contract + "#"), () -> contract + " was not run: " + text);
            }
        } finally {
            process.destroyForcibly();
        }
    }

    /** That of this JVM, but with the older Netty and no newer one. */
    private static String classPath() {
        try (Stream<Path> older = Files.list(Path.of("target", "netty-4.1"))) {
            List<String> jars = older.map(Path::toString).toList();
            assertTrue(jars.stream().anyMatch(jar -> jar.contains("netty-transport-4.1.")), () -> "jars: " + jars);
            Stream<String> others = Arrays.stream(
                            System.getProperty("java.class.path").split(File.pathSeparator))
                    .filter(entry -> !Path.of(entry).getFileName().toString().startsWith("netty-"));
            return Stream.concat(jars.stream(), others).collect(Collectors.joining(File.pathSeparator));
        } catch (IOException e) {
            throw new IllegalStateException("no jars of Netty 4.1", e);
        }
    }
}
