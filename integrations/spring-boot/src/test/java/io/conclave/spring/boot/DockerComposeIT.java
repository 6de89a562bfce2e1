package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.conclave.testcontainers.TestImage;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.DockerClientFactory;

/**
 * An application beside a {@code compose.yaml}, on a real engine; without one, one line says why not. Where the engine
 * has no Compose v2, a script does what Boot asks of it, with real containers.
 */
class DockerComposeIT {
    private static final String COMPOSE = """
            services:
              coordination:
                image: %s
                container_name: %s
                environment:
                  JVMFLAGS: "%s"
                ports: ["2181"]
            """;

    private final String container = "conclave-" + UUID.randomUUID();

    @TempDir
    private Path directory;

    @AfterEach
    void removeContainer() throws Exception {
        if (DockerClientFactory.instance().isDockerAvailable()) {
            // Compose stops it only, and a failed application not even that
            ChildProcess.run(
                    new ProcessBuilder("docker", "rm", "--force", "--volumes", container),
                    directory.resolve("removal.log"),
                    0);
        }
    }

    @Test
    void applicationTakesALockOnTheServiceOfCompose() throws Exception {
        String image = TestImage.name();
        Files.writeString(directory.resolve("compose.yaml"), COMPOSE.formatted(image, container, TestImage.JVM_FLAGS));
        ProcessBuilder application = ChildProcess.application(
                ComposedApplication.class, "--spring.docker.compose.readiness.timeout=" + TestImage.PATIENCE);
        Map<String, String> environment = application.environment();
        environment.put("PATH", standIn() + File.pathSeparator + environment.get("PATH"));
        environment.put("STAND_IN_CONTAINER", container);
        environment.put("STAND_IN_IMAGE", image);
        environment.put("STAND_IN_JVMFLAGS", TestImage.JVM_FLAGS);
        String output =
                ChildProcess.run(application.directory(directory.toFile()), directory.resolve("application.log"), 0);
        assertThat(output).containsPattern("held on conclave://(localhost|127\\.0\\.0\\.1):\\d+\\R");
    }

    /** A folder with a {@code docker-compose}; Boot asks it only if {@code docker compose} is not there. */
    private Path standIn() throws IOException {
        Path folder = Files.createDirectory(directory.resolve("bin"));
        Path script = folder.resolve("docker-compose");
        try (InputStream text = Objects.requireNonNull(getClass().getResourceAsStream("docker-compose"))) {
            Files.copy(text, script);
        }
        assertThat(script.toFile().setExecutable(true)).isTrue();
        return folder;
    }
}
