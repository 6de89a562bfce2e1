package io.conclave.server;

import org.jspecify.annotations.Nullable;

/** The server cannot start; the message says why. */
public final class ServerStartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ServerStartException(String message) {
        super(message);
    }

    public ServerStartException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
