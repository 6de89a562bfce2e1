package io.conclave.tls;

import java.security.cert.CertificateException;

/** A certificate of the other end was refused; the message names it and the reason. */
final class RefusedCertificateException extends CertificateException {
    private static final long serialVersionUID = 1L;

    RefusedCertificateException(String message, Throwable cause) {
        super(message, cause);
    }
}
