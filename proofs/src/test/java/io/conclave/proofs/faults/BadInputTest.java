package io.conclave.proofs.faults;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConnectException;
import io.conclave.locks.DistributedLock;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a user gets for a mistake: an error that names the input and the rule that it breaks. */
class BadInputTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "~~                         | must start with a scheme",
                "localhost                  | must start with a scheme",
                "localhost:2181             | no backend for the scheme",
                "conclav://localhost        | no backend for the scheme",
                "conclave://                | a server needs a host name",
                "conclave:                  | must name servers",
                "conclave://h1,,h2          | a server needs a host name",
                "conclave://h1:0            | a port is a number from 1 to 65535",
                "conclave://h1:65536        | a port is a number from 1 to 65535",
                "conclave://h1:port         | a port is a number from 1 to 65535",
                "conclave://h1:2181/a/      | bad chroot",
                "conclave://h1:2181/a//b    | bad chroot",
                "conclave://h1:2181/../b    | bad chroot",
                "zookeeper://my host:2181   | a server needs a host name",
                "embedded://h1:2181         | an embedded server has no address",
            })
    void aWrongConnectStringIsNamedWithItsRule(String connectString, String rule) {
        IllegalArgumentException failure =
                assertThrows(IllegalArgumentException.class, () -> Coordinator.connect(connectString)
                        .close());
        assertTrue(failure.getMessage().contains("\"" + connectString + "\""), failure.getMessage());
        assertTrue(failure.getMessage().contains(rule), failure.getMessage());
    }

    @Test
    void aServerThatIsNotThereIsNamed() {
        ConnectException failure =
                assertThrows(ConnectException.class, () -> Coordinator.builder("conclave://127.0.0.1:1")
                        .connectTimeout(Duration.ofSeconds(1))
                        .connect()
                        .close());
        assertTrue(failure.getMessage().contains("127.0.0.1:1"), failure.getMessage());
        assertTrue(failure.getMessage().contains("cannot connect"), failure.getMessage());
        Throwable attempt = failure.getCause();
        assertInstanceOf(java.net.ConnectException.class, attempt.getCause(), "refused: " + attempt);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "~~      | must start with",
                "locks   | must start with",
                "/       | a lock needs a znode of its own",
                "/a/     | must not end with",
                "/a//b   | must not have an empty component",
                "/a/./b  | must not have a '.' or '..' component",
                "/a/../b | must not have a '.' or '..' component",
            })
    void aBadPathIsNamedWithItsRule(String path, String rule) {
        try (Coordinator coordinator = Coordinator.connect("embedded:")) {
            IllegalArgumentException failure =
                    assertThrows(IllegalArgumentException.class, () -> DistributedLock.at(coordinator, path));
            assertTrue(failure.getMessage().contains("\"" + path + "\""), failure.getMessage());
            assertTrue(failure.getMessage().contains(rule), failure.getMessage());
        }
    }

    @Test
    void aPathWithAControlCharacterIsNamedWithItsRule() {
        try (Coordinator coordinator = Coordinator.connect("embedded:")) {
            IllegalArgumentException failure =
                    assertThrows(IllegalArgumentException.class, () -> DistributedLock.at(coordinator, "/a\u0000b"));
            assertTrue(failure.getMessage().contains("Invalid path"), failure.getMessage());
        }
    }

    @Test
    void aNegativeTimeoutIsNamedWithItsRule() {
        try (Coordinator coordinator = Coordinator.connect("embedded:")) {
            DistributedLock lock = DistributedLock.at(coordinator, "/lock");
            IllegalArgumentException failure =
                    assertThrows(IllegalArgumentException.class, () -> lock.acquire(Duration.ofSeconds(-1)));
            assertTrue(failure.getMessage().contains("PT-1S"), failure.getMessage());
        }
    }
}
