package io.conclave.connection;

import io.conclave.tls.TlsContext;
import java.util.Optional;

/**
 * How clients speak on one port.
 *
 * @param tls what handshakes of TLS are made with; empty if the port has no TLS
 * @param takesPlain whether clients without TLS are taken
 * @param superUser the subject of the certificate of the user that may do everything; empty if there is none
 */
public record PortSecurity(Optional<TlsContext> tls, boolean takesPlain, Optional<String> superUser) {
    /** Without TLS. */
    public static final PortSecurity PLAIN = new PortSecurity(Optional.empty(), true, Optional.empty());
}
