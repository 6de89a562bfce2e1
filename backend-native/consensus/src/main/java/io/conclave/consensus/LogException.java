package io.conclave.consensus;

/** The log cannot start or go on; the message says why and, where there is one, names the file. */
public class LogException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public LogException(String message) {
        super(message);
    }

    public LogException(String message, Throwable cause) {
        super(message, cause);
    }
}
