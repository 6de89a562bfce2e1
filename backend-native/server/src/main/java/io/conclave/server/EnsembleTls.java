package io.conclave.server;

import io.conclave.consensus.CallersHandshakes;
import io.conclave.consensus.PeerTls;
import io.conclave.tls.TlsContext;
import io.conclave.tls.TlsException;
import io.conclave.tls.TlsSettings;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * How the members of an ensemble use TLS among themselves.
 *
 * @param settings the own certificate and whose are trusted; empty if members use no TLS
 * @param dials whether other members are called with TLS; callers with TLS are always taken if there are settings
 * @param takesPlain whether callers without TLS are taken, too
 * @param verifiesCallers whether the certificate of a caller must be for the host of the member that it says it is
 * @param reloads whether the files of certificates are read again when they change
 */
public record EnsembleTls(
        Optional<TlsSettings> settings, boolean dials, boolean takesPlain, boolean verifiesCallers, boolean reloads) {
    /** No TLS. */
    public static final EnsembleTls NONE = new EnsembleTls(Optional.empty(), false, true, false, false);

    /**
     * Reads the files of certificates. Blocks. For a command, which computes its handshakes itself.
     *
     * @throws ServerStartException if one is missing or cannot be used
     */
    PeerTls open() {
        return open(Runnable::run, new CallersHandshakes(Runnable::run, 1));
    }

    /**
     * The same for a server.
     *
     * @param handshakes computes handshakes with the members that it calls
     * @param ofCallers computes those with callers
     */
    PeerTls open(Executor handshakes, CallersHandshakes ofCallers) {
        try {
            return new PeerTls(
                    settings.map(found -> TlsContext.forServer(found, handshakes)),
                    dials,
                    takesPlain,
                    verifiesCallers,
                    handshakes,
                    ofCallers);
        } catch (TlsException e) {
            throw new ServerStartException("TLS between members cannot be used: " + e.getMessage(), e);
        }
    }
}
