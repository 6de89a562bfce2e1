package io.conclave.proofs.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * The folder that an operator unpacks has Netty's native epoll for both processors that it is there for; the server
 * uses it, and serves without it where it does not fit.
 */
class DistributionIT {
    private static final Path TARGET = Path.of("../backend-native/distribution/target");
    private static final String NATIVE = "netty-transport-native-epoll-";
    private static final String READY = "Conclave is ready on port ";
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @TempDir
    private Path directory;

    static Path distribution() throws IOException {
        try (Stream<Path> folders = Files.list(TARGET)) {
            return folders.filter(folder -> Files.isDirectory(folder.resolve("lib")))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("mvn package makes it"));
        }
    }

    private static List<Path> jars(String name) throws IOException {
        try (Stream<Path> jars = Files.list(distribution().resolve("lib"))) {
            return jars.filter(jar -> jar.getFileName().toString().startsWith(name))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void nativeEpollIsThereForBothProcessorsInTheVersionOfNetty() throws IOException {
        String version = jars("netty-common-").get(0).getFileName().toString().replaceAll("netty-common-|\\.jar", "");
        List<String> processors = List.of("aarch_64", "x86_64");
        assertEquals(
                processors.stream()
                        .map(processor -> NATIVE + version + "-linux-" + processor + ".jar")
                        .toList(),
                jars(NATIVE).stream().map(jar -> jar.getFileName().toString()).toList());
        for (int i = 0; i < processors.size(); i++) {
            try (JarFile jar = new JarFile(jars(NATIVE).get(i).toFile())) {
                String library = "META-INF/native/libnetty_transport_native_epoll_" + processors.get(i) + ".so";
                assertTrue(jar.getEntry(library) != null, library);
            }
        }
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "native epoll is of Linux")
    void serverUsesNativeEpoll() throws Exception {
        assertTrue(mapsOfServer(distribution()).contains("libnetty_transport_native_epoll_x86_64"));
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "native epoll is of Linux")
    void serverServesWithoutTheNativeParts() throws Exception {
        Path copy = directory.resolve("without");
        try (Stream<Path> files = Files.walk(distribution())) {
            for (Path file : files.filter(file -> !file.getFileName().toString().startsWith(NATIVE))
                    .toList()) {
                Files.copy(file, copy.resolve(distribution().relativize(file).toString()));
            }
        }
        assertTrue(!mapsOfServer(copy).contains("libnetty_transport_native_epoll"));
    }

    /** Starts a server, takes a lock there, and ends it. What it has mapped into its memory. */
    private String mapsOfServer(Path home) throws Exception {
        Path configuration = directory.resolve("zoo.cfg");
        Files.writeString(configuration, "dataDir=" + directory.resolve("data") + "\nclientPort=0\n");
        Files.createDirectory(directory.resolve("data"));
        Process server = new ProcessBuilder(
                        home.resolve("bin/conclave-server").toAbsolutePath().toString(),
                        "start-foreground",
                        configuration.toString())
                .directory(directory.toFile()) // for its audit log
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output = server.inputReader()) {
            String port = output.lines()
                    .filter(line -> line.startsWith(READY))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("it ended before it was ready"))
                    .substring(READY.length());
            try (Coordinator coordinator = Coordinator.builder("conclave://127.0.0.1:" + port)
                            .connectTimeout(PATIENCE)
                            .connect();
                    LockGrant grant = DistributedLock.at(coordinator, "/locks/distribution")
                            .acquire(PATIENCE)) {
                grant.ensureHeld();
            }
            return Files.readString(Path.of("/proc/" + server.pid() + "/maps"));
        } finally {
            server.destroyForcibly().waitFor();
        }
    }
}
