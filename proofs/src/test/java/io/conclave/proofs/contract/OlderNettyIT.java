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
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Client and servers on Netty 4.1, which frameworks such as Spring Boot 3 put in the place of 4.2; the build has copied
 * its jars to {@code target/netty-4.1}.
 */
class OlderNettyIT {
    private static final int PATIENCE_S = 500;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LockContractIT$Embedded",
                "ConfigurationContractIT$Embedded",
                "LockContractIT$Standalone",
                "BackendContractIT$Standalone",
                "LockContractIT$Ensemble"
            })
    void contractHoldsOnNetty41(String contract) throws Exception {
        Path log = directory.resolve("log");
        List<String> command =
                ChildJvm.command(List.of("-Xmx512m"), Repetition.class.getName(), List.of("1", contract, "2")).stream()
                        .map(word -> word.equals(System.getProperty("java.class.path")) ? classPath() : word)
                        .toList();
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertTrue(process.waitFor(PATIENCE_S, TimeUnit.SECONDS), () -> "not done: " + ChildJvm.textOf(log));
            assertEquals(0, process.exitValue(), () -> ChildJvm.textOf(log));
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
