/**
 * TLS for servers, clients and members alike: settings, stores of keys and certificates, handshakes, and failures told
 * with the certificate and the reason.
 */
@NullMarked
package io.conclave.tls;

import org.jspecify.annotations.NullMarked;
