package io.conclave.tls;

/** Whether a server asks its clients for certificates. */
public enum ClientAuthentication {
    /** It does not ask. */
    NONE,
    /** It asks, and takes clients without one; a certificate that it does not trust ends the handshake. */
    WANT,
    /** It refuses clients without one. */
    NEED
}
