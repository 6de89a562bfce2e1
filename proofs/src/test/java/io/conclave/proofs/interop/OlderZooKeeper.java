package io.conclave.proofs.interop;

import io.conclave.proofs.faults.ChildJvm;
import io.conclave.testkit.proxy.FreePort;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/** A stand-alone Apache ZooKeeper of an older release, as a process with session timeouts from 200 ms on. */
public final class OlderZooKeeper implements ServerUnderTest {
    private static final Duration STARTS_WITHIN = Duration.ofSeconds(60);
    private static final int ANSWERS_WITHIN_MS = 2_000;

    private final String version;
    private final Path directory = ServerDirectory.create("older-zookeeper");
    private final int port = FreePort.find();
    private Process process;

    /**
     * Starts a server on an empty directory.
     *
     * @param version a release whose jars the build has copied to {@code target/zookeeper/<version>}
     */
    public OlderZooKeeper(String version) {
        this.version = version;
        try {
            Files.writeString(
                    directory.resolve("zoo.cfg"),
                    "tickTime=100\nmaxSessionTimeout=60000\nmaxClientCnxns=0\nclientPortAddress=127.0.0.1\nclientPort="
                            + port + "\ndataDir=" + directory.resolve("data") + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start();
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public String url() {
        return "zookeeper://" + hostPort();
    }

    /** Where it keeps its files. */
    public Path dataDirectory() {
        return directory.resolve("data");
    }

    @Override
    public void stop() {
        process.destroy();
        process.onExit().join();
    }

    @Override
    public void start() {
        try {
            process = new ProcessBuilder(command())
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("log").toFile())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try {
            Awaitility.await("ZooKeeper " + version + " on port " + port)
                    .atMost(STARTS_WITHIN)
                    .until(this::isServing);
        } catch (ConditionTimeoutException e) {
            throw new AssertionError("ZooKeeper " + version + " does not answer; its log: " + log(), e);
        }
    }

    private String log() {
        try {
            return Files.readString(directory.resolve("log"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    private List<String> command() throws IOException {
        List<String> classPath = new ArrayList<>();
        try (Stream<Path> jars = Files.list(Path.of("target", "zookeeper", version))) {
            jars.forEach(jar -> classPath.add(jar.toString()));
        }
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !Path.of(entry).getFileName().toString().startsWith("zookeeper"))
                .forEach(classPath::add);
        List<String> command = ChildJvm.command(
                List.of(
                        "-Xmx256m",
                        "-XX:TieredStopAtLevel=1",
                        "-Dzookeeper.admin.enableServer=false",
                        "-Dzookeeper.jmx.log4j.disable=true",
                        "-Dzookeeper.forceSync=no"),
                "org.apache.zookeeper.server.ZooKeeperServerMain",
                List.of(directory.resolve("zoo.cfg").toString()));
        return command.stream()
                .map(word -> word.equals(System.getProperty("java.class.path"))
                        ? classPath.stream().collect(Collectors.joining(File.pathSeparator))
                        : word)
                .toList();
    }

    private boolean isServing() {
        if (!process.isAlive()) {
            throw new IllegalStateException("ZooKeeper " + version + " has ended; its log: " + log());
        }
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(ANSWERS_WITHIN_MS); // some that it accepts while it starts are never answered
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            if (answer.contains("version") && !answer.contains(version)) {
                throw new IllegalStateException("Not ZooKeeper " + version + ": " + answer);
            }
            return answer.contains("Mode: standalone");
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        stop();
        ServerDirectory.delete(directory);
    }
}
