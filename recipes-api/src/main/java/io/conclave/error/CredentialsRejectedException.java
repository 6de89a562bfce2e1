package io.conclave.error;

import java.util.Objects;

/**
 * A server has rejected what the client proves of itself, or wants a proof that the client does not give. The same
 * credentials are not tried again in this session. The message names the server, the scheme and the reason, and no
 * secret.
 */
public final class CredentialsRejectedException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    private final String scheme;
    private final String server;
    private final String reason;

    /**
     * Creates the exception.
     *
     * @param scheme of the credentials, such as {@code sasl}; empty if the client gave none
     * @param server its address as the client knows it
     * @param reason what the server said
     */
    public CredentialsRejectedException(String scheme, String server, String reason) {
        super(message(scheme, server, reason));
        this.scheme = Objects.requireNonNull(scheme, "scheme");
        this.server = Objects.requireNonNull(server, "server");
        this.reason = Objects.requireNonNull(reason, "reason");
    }

    private static String message(String scheme, String server, String reason) {
        return "the server " + server
                + (scheme.isEmpty()
                        ? " wants credentials, and this client has none: "
                        : " rejected the credentials of the scheme " + scheme + ": ")
                + reason;
    }

    /** The scheme of the credentials that were rejected; empty if the client gave none. */
    public String scheme() {
        return scheme;
    }

    /** The address of the server. */
    public String server() {
        return server;
    }

    @Override
    public CredentialsRejectedException withCallersStack() {
        CredentialsRejectedException copy = new CredentialsRejectedException(scheme, server, reason);
        copy.initCause(this);
        return copy;
    }
}
