package io.conclave.tls;

/** TLS cannot be set up as configured; the message names the key, the file, the certificate and the reason. */
public final class TlsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public TlsException(String message) {
        super(message);
    }

    public TlsException(String message, Throwable cause) {
        super(message, cause);
    }
}
