package io.conclave.spring.boot;

import org.jspecify.annotations.Nullable;

/** A location of {@code spring.config.import} that cannot be read, and what to do. */
final class ConfigImportException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String action;

    ConfigImportException(String message, String action, @Nullable Throwable cause) {
        super(message, cause);
        this.action = action;
    }

    String action() {
        return action;
    }
}
