package io.conclave.server;

import io.conclave.tls.TlsSettings;
import java.util.Optional;

/**
 * TLS for clients.
 *
 * @param port the port with TLS only; 0 picks a free one; empty opens none
 * @param address the address that it listens on; empty means all
 * @param unified whether the port without TLS takes clients with TLS, too
 * @param reloads whether stores that change are read again
 * @param superUser the subject of the certificate of the user that may do everything
 * @param settings stores and rules
 */
public record ClientTls(
        Optional<Integer> port,
        Optional<String> address,
        boolean unified,
        boolean reloads,
        Optional<String> superUser,
        TlsSettings settings) {}
