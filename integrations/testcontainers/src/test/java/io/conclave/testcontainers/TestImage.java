package io.conclave.testcontainers;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Assumptions;
import org.testcontainers.DockerClientFactory;

/**
 * The image of tests, of other modules too: built once, from the distribution folder and the Java of this machine.
 */
public final class TestImage {
    public static final Duration PATIENCE = Duration.ofMinutes(5);
    /** They make starts cheap. */
    public static final String JVM_FLAGS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

    private static final String NAME = "conclave:test";
    private static String problem = "";
    private static boolean isTried;

    private TestImage() {}

    /** Its name; without a Docker engine the test ends here, and one line says why. */
    public static synchronized String name() throws IOException, InterruptedException {
        if (!isTried) {
            isTried = true;
            problem = DockerClientFactory.instance().isDockerAvailable() ? build() : "no Docker engine is available";
            if (!problem.isEmpty()) {
                System.out.println("The tests of containers do not run: " + problem);
            }
        }
        Assumptions.assumeTrue(problem.isEmpty(), problem);
        return NAME;
    }

    /** A server of it, with time to start on a busy machine. */
    public static ConclaveContainer server() throws IOException, InterruptedException {
        ConclaveContainer server = new ConclaveContainer(name());
        prepare(server);
        return server;
    }

    /** Lets a server start cheaply, and gives it time. */
    public static void prepare(ConclaveContainer server) {
        server.withStartupTimeout(PATIENCE).withEnv("JVMFLAGS", JVM_FLAGS);
    }

    private static String build() throws IOException, InterruptedException {
        Process build = new ProcessBuilder("scripts/test-image")
                .directory(new File("../..").getCanonicalFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(build.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (build.waitFor() != 0) {
            throw new IllegalStateException("the image could not be built: " + output);
        }
        return "";
    }
}
