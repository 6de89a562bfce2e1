package io.conclave.testkit.contract;

import io.conclave.session.TlsOptions;
import java.time.Duration;
import java.util.Optional;

/**
 * Where a recipe's contract finds the backend that it runs on. The contract implements this interface and leaves the
 * methods open; the test of a backend answers them, by methods of its own or by an interface that answers for every
 * recipe.
 */
public interface StoreUnderTest {
    /**
     * Where all coordinators of one test connect to: always the same for one test, and a store that no other test has
     * used.
     */
    String connectString();

    /** A timeout that the backend grants; as short as it may be, because some tests wait for it. */
    default Duration sessionTimeout() {
        return Duration.ofSeconds(2);
    }

    /** How coordinators speak TLS with the backend; empty: they do not. */
    default Optional<TlsOptions> tls() {
        return Optional.empty();
    }
}
