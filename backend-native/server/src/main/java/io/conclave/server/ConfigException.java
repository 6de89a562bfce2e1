package io.conclave.server;

/** The configuration breaks a rule; the message names file, line, key and rule, as far as there are any. */
public final class ConfigException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ConfigException(String message) {
        super(message);
    }

    public ConfigException(String message, Throwable cause) {
        super(message, cause);
    }
}
