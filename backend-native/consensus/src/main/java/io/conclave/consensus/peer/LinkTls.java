package io.conclave.consensus.peer;

import io.conclave.consensus.PeerTls;
import io.conclave.tls.TlsContext;
import io.netty.handler.ssl.SslHandler;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.Optional;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** TLS of one connection, at either end. Belongs to the network's thread. */
final class LinkTls {
    /** What is not read by then is given up when the connection is closed. */
    private static final int CLOSE_NOTIFY_MS = 1_000;

    /** What Netty says of it. */
    private static final String CLOSED = "Connection closed while SSL/TLS handshake was in progress";

    private final TlsContext context;
    private final SslHandler handler;
    private final boolean calls;

    private LinkTls(Executor handshakes, TlsContext context, SslHandler made, boolean calls) {
        this.context = context;
        this.calls = calls;
        this.handler = new SslHandler(made.engine(), handshakes);
        this.handler.setHandshakeTimeoutMillis(made.getHandshakeTimeoutMillis());
        this.handler.setCloseNotifyFlushTimeoutMillis(CLOSE_NOTIFY_MS);
    }

    /** @param host the name or address by which the called member is configured */
    static LinkTls calling(PeerTls tls, String host, int port) {
        TlsContext context = tls.context().orElseThrow();
        return new LinkTls(tls.handshakes(), context, context.clientHandler(host, port), true);
    }

    static LinkTls called(PeerTls tls, String address) {
        TlsContext context = tls.context().orElseThrow();
        Executor handshakes = tls.ofCallers().of(address);
        return new LinkTls(handshakes, context, context.serverHandler(address, 0), false);
    }

    SslHandler handler() {
        return handler;
    }

    /** The reason for the end of the connection, for a log line. */
    String explain(Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        boolean cut =
                !TlsContext.isTlsFailure(cause) && !handler.handshakeFuture().isSuccess();
        if (cut || message.contains(CLOSED)) {
            return "TLS: the connection was closed during the handshake (" + message + "). The other end may not speak"
                    + " TLS, or not take the certificate of this member: look at its log";
        }
        if (!TlsContext.isTlsFailure(cause)) {
            return message;
        }
        return "TLS: " + (calls ? context.explainAsClient(cause) : context.explainAsServer(cause));
    }

    /** What the other end has shown in its handshake. */
    Optional<X509Certificate> peerCertificate() {
        return TlsContext.peerCertificate(handler);
    }

    /**
     * What ties a proof to this connection (tls-server-end-point of RFC 5929): a hash of the called one's certificate,
     * of which each end knows that the other has seen it, too.
     *
     * @throws MalformedMessageException if there is none
     */
    byte[] binding() {
        try {
            SSLSession session = handler.engine().getSession();
            Certificate @Nullable [] chain = calls ? session.getPeerCertificates() : session.getLocalCertificates();
            if (chain == null || chain.length == 0) {
                throw new MalformedMessageException("TLS without a certificate of the called member");
            }
            return MessageDigest.getInstance("SHA-256").digest(chain[0].getEncoded());
        } catch (SSLException | GeneralSecurityException e) {
            throw new MalformedMessageException("TLS without a certificate of the called member: " + e.getMessage());
        }
    }
}
