package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An application beside a {@code compose.yaml}, without an engine: Boot reads what Compose v2 has really said. */
class RecordedComposeIT {
    private static final List<String> RECORDINGS =
            List.of("docker", "contexts.json", "version.json", "config.json", "ps.json", "inspect.json");

    @TempDir
    private Path directory;

    @Test
    void serviceOfComposeIsConnectedToByTheOutputOfCompose() throws Exception {
        for (String recording : RECORDINGS) {
            copy(recording);
        }
        Files.writeString(directory.resolve("compose.yaml"), "services: {}\n"); // the recordings tell what is in it
        assertThat(directory.resolve("docker").toFile().setExecutable(true)).isTrue();
        try (ServerSocket service = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) { // Boot looks for it
            ProcessBuilder application = ChildProcess.application(ConnectedByCompose.class);
            Map<String, String> environment = application.environment();
            environment.put("PATH", directory + File.pathSeparator + environment.get("PATH"));
            environment.put("RECORDED", directory.toString());
            environment.put("PORT", Integer.toString(service.getLocalPort()));
            environment.remove("DOCKER_HOST");
            environment.remove("SERVICES_HOST");
            String output = ChildProcess.run(application.directory(directory.toFile()), directory.resolve("log"), 0);
            assertThat(output).contains("connects to conclave://127.0.0.1:" + service.getLocalPort() + "\n");
        }
        assertThat(Files.readString(directory.resolve("asked"))).contains(" up ", " stop ");
    }

    private void copy(String recording) throws IOException {
        try (InputStream data =
                Objects.requireNonNull(getClass().getResourceAsStream("compose-2.26/" + recording), recording)) {
            Files.copy(data, directory.resolve(recording));
        }
    }
}
