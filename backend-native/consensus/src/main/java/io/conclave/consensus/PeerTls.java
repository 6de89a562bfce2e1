package io.conclave.consensus;

import io.conclave.tls.TlsContext;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * How members use TLS among themselves.
 *
 * @param context own certificate, and whose certificates are trusted; empty if this member speaks no TLS
 * @param dials whether it calls others with TLS; it takes TLS from callers whenever there is a context
 * @param takesPlain whether it takes callers without TLS, too
 * @param verifiesCallers whether the certificate of a caller must be for the host of the member that it says it is
 * @param handshakes runs the computations of handshakes with the members that it calls
 * @param ofCallers runs those with callers, strangers among them: they delay neither the members' thread nor the
 *     former
 */
public record PeerTls(
        Optional<TlsContext> context,
        boolean dials,
        boolean takesPlain,
        boolean verifiesCallers,
        Executor handshakes,
        CallersHandshakes ofCallers) {
    /** Members do not use it. */
    public static final PeerTls NONE = new PeerTls(Optional.empty(), false, true, false, Runnable::run);

    /** Where one executor is enough for all, one handshake after the other. */
    public PeerTls(
            Optional<TlsContext> context,
            boolean dials,
            boolean takesPlain,
            boolean verifiesCallers,
            Executor handshakes) {
        this(context, dials, takesPlain, verifiesCallers, handshakes, new CallersHandshakes(handshakes, 1));
    }

    public PeerTls {
        if (context.isEmpty() && (dials || !takesPlain)) {
            throw new IllegalArgumentException("TLS is asked for, and there is no certificate");
        }
    }
}
