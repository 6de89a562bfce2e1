package io.conclave.embedded;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConnectException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedBackendTest {
    @TempDir
    private Path directory;

    @Test
    void theProviderIsFoundByServiceLoader() {
        assertTrue(ServiceLoader.load(io.conclave.spi.BackendProvider.class).stream()
                .anyMatch(provider -> provider.type() == EmbeddedBackendProvider.class));
    }

    @Test
    void anAddressIsRefusedWithTheRule() {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> Coordinator.connect("embedded://localhost:2181"));
        assertTrue(refused.getMessage().contains("embedded server has no address"), refused.getMessage());
    }

    @Test
    void aDirectoryThatIsAFileIsRefusedByName() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "x");
        ConnectException refused = assertThrows(ConnectException.class, () -> Coordinator.connect("embedded:" + file));
        assertTrue(refused.getMessage().contains(file.toString()), refused.getMessage());
    }
}
