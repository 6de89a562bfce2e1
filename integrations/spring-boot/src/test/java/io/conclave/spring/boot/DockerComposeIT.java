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
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.DockerClientFactory;

/**
 * An application beside the {@code compose.yaml} of its page, on a real engine; without one, one line says why not.
 * Where the engine has no Compose v2, a script does what Boot asks of it, with real containers.
 */
class DockerComposeIT {
    private static final Path PAGE = Path.of("../../docs/integrations/spring-boot.md");
    private static final Pattern COMPOSE = Pattern.compile("(?s)```yaml\\n(services: # compose.yaml\\n.*?)```");
    private static final Pattern IMAGE = Pattern.compile("image: (\\S+)");

    /** What the page need not say: for the removal, and cheap starts. */
    private static final String MORE = """
            services:
              coordination:
                container_name: %s
                environment:
                  JVMFLAGS: "%s"
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
        String compose = found(COMPOSE, Files.readString(PAGE));
        String image = found(IMAGE, compose);
        ChildProcess.run(new ProcessBuilder("docker", "tag", TestImage.name(), image), directory.resolve("tag.log"), 0);
        Path onPage = Files.writeString(directory.resolve("compose.yaml"), compose);
        Path more = Files.writeString(directory.resolve("more.yaml"), MORE.formatted(container, TestImage.JVM_FLAGS));
        ProcessBuilder application = ChildProcess.application(
                ComposedApplication.class,
                "--spring.docker.compose.file=" + onPage + "," + more,
                "--spring.docker.compose.readiness.timeout=" + TestImage.PATIENCE);
        Map<String, String> environment = application.environment();
        environment.put("PATH", standIn() + File.pathSeparator + environment.get("PATH"));
        environment.put("STAND_IN_CONTAINER", container);
        environment.put("STAND_IN_IMAGE", image);
        environment.put("STAND_IN_JVMFLAGS", TestImage.JVM_FLAGS);
        String output =
                ChildProcess.run(application.directory(directory.toFile()), directory.resolve("application.log"), 0);
        assertThat(output).containsPattern("held on conclave://(localhost|127\\.0\\.0\\.1):\\d+\\R");
    }

    private static String found(Pattern pattern, String text) {
        return pattern.matcher(text).results().findFirst().orElseThrow().group(1);
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
