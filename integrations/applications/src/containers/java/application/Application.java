package application;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.testcontainers.ConclaveCluster;
import io.conclave.testcontainers.ConclaveContainer;
import java.io.IOException;
import java.time.Duration;

/** Takes locks on servers in containers; without a Docker engine, one line says why not. */
public final class Application {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private Application() {}

    public static void main(String[] arguments) throws Exception {
        String module = Application.class.getModule().toString();
        if (!isEngineThere()) {
            System.out.println("Testcontainers, in " + module + ": no lock is taken, no Docker engine is available");
            return;
        }
        String image = builtImage();
        oneServer(image);
        threeServers(image);
        System.out.println("Testcontainers, in " + module + ": locks were taken on one server and on three");
    }

    /** Testcontainers is not asked: that it does not find an engine which is there is a failure. */
    private static boolean isEngineThere() throws InterruptedException {
        try {
            return run("docker", "info") == 0;
        } catch (IOException e) {
            return false; // there is no docker to run
        }
    }

    private static int run(String... command) throws IOException, InterruptedException {
        return new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    private static String builtImage() throws Exception {
        if (run(System.getProperty("test.image")) != 0) {
            throw new IllegalStateException("The image was not built: run scripts/test-image");
        }
        return "conclave:test";
    }

    private static void oneServer(String image) throws Exception {
        try (ConclaveContainer server = new ConclaveContainer(image)) {
            prepare(server);
            server.start();
            try (Coordinator coordinator = Coordinator.builder(server.getConnectString())
                            .connectTimeout(LIMIT)
                            .connect();
                    LockGrant held = DistributedLock.at(coordinator, "/locks/orders").acquire(LIMIT)) {
                held.ensureHeld();
            }
        }
    }

    private static void threeServers(String image) throws Exception {
        try (ConclaveCluster cluster = new ConclaveCluster(image, 3).withEach(Application::prepare)) {
            cluster.start();
            try (Coordinator coordinator = Coordinator.builder(cluster.getConnectString())
                    .followEnsemble(false)
                    .connectTimeout(LIMIT)
                    .connect()) {
                cluster.kill(1);
                DistributedLock.at(coordinator, "/locks/orders").acquire(LIMIT).close();
            }
        }
    }

    private static void prepare(ConclaveContainer server) {
        server.withStartupTimeout(LIMIT).withEnv("JVMFLAGS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
    }
}
