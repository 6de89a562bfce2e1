package io.conclave.spi;

import java.util.Set;

/**
 * Finds a backend by the scheme of the connect string; implementations are found with {@link java.util.ServiceLoader}.
 */
public interface BackendProvider {
    /** The schemes that this provider serves, in lower case, such as {@code embedded}. */
    Set<String> schemes();

    /**
     * Opens a backend. Does not wait for a connection; an embedded server is started before it returns.
     *
     * @throws IllegalArgumentException if the connect string breaks a rule, naming it
     * @throws io.conclave.error.ConnectException if the files of the TLS options cannot be used, naming file and reason
     */
    Backend open(ConnectString connectString, BackendOptions options);
}
