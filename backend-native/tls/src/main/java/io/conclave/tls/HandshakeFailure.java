package io.conclave.tls;

import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.X509Certificate;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Says in one sentence why a handshake failed. */
final class HandshakeFailure {
    private static final String ALERT = "Received fatal alert: ";

    private final TlsSettings settings;
    private final Optional<X509Certificate> own;

    HandshakeFailure(TlsSettings settings, Optional<X509Certificate> own) {
        this.settings = settings;
        this.own = own;
    }

    static boolean concerns(Throwable failure) {
        return find(failure, SSLException.class) != null
                || find(failure, NotSslRecordException.class) != null
                || find(failure, RefusedCertificateException.class) != null
                || find(failure, RejectedExecutionException.class) != null;
    }

    String asServer(Throwable failure) {
        String message = message(failure);
        if (message.contains("Empty client certificate chain") || message.contains("null cert chain")) {
            return "the client sent no certificate, and " + settings.keyPrefix() + "clientAuth=need asks for one of an"
                    + " authority in "
                    + settings.trustStore().map(StoreFile::toString).orElse("the trust store of this Java");
        }
        return describe(failure, "client");
    }

    /** @param showedOwn whether the own certificate was sent */
    String asClient(Throwable failure, boolean showedOwn) {
        String alert = alert(failure);
        boolean ofCertificate = alert.contains("certificate") || alert.equals("unknown_ca");
        if (ofCertificate && own.isEmpty()) {
            return "the server wants a certificate of the client, and this client has none (alert " + alert + ")";
        }
        if (ofCertificate && !showedOwn) {
            return "the server wants a certificate of an authority that it trusts, and this client has only "
                    + own.map(Certificates::describe).orElse("none") + " (alert " + alert + ")";
        }
        String reason = describe(failure, "server");
        boolean mayBeOfCertificate = alert.equals("handshake_failure") && own.isEmpty(); // Java 25 says so in TLS 1.2
        return mayBeOfCertificate
                ? reason + "; or the server wants a certificate of the client, and this client has none"
                : reason;
    }

    private String describe(Throwable failure, String other) {
        RefusedCertificateException refused = find(failure, RefusedCertificateException.class);
        if (refused != null) {
            return String.valueOf(refused.getMessage());
        }
        String alert = alert(failure);
        if (!alert.isEmpty()) {
            return ofAlert(alert, other);
        }
        if (find(failure, NotSslRecordException.class) != null) {
            return "the " + other + " does not speak TLS on this port";
        }
        if (find(failure, SslHandshakeTimeoutException.class) != null) {
            return "the handshake of TLS was not complete after "
                    + settings.handshakeTimeout().toMillis() + " ms";
        }
        if (find(failure, RejectedExecutionException.class) != null) {
            return "too many other handshakes of TLS wait for this one to be computed";
        }
        if (find(failure, ClosedChannelException.class) != null) {
            return "the " + other + " closed the connection during the handshake of TLS; it may not speak TLS on this"
                    + " port";
        }
        return "the handshake of TLS failed: " + message(failure);
    }

    private String ofAlert(String alert, String other) {
        return switch (alert) {
            case "protocol_version" ->
                "the " + other + " offers none of the versions " + settings.protocols() + " (alert " + alert + ")";
            case "handshake_failure", "insufficient_security" ->
                "the " + other + " has no version of TLS, cipher suite or kind of certificate in common with this end"
                        + " (alert " + alert + ")";
            default ->
                alert.contains("certificate") || alert.equals("unknown_ca")
                        ? "the " + other + " refused "
                                + own.map(Certificates::describe).orElse("that there is no certificate") + " (alert "
                                + alert + ")"
                        : "the " + other + " ended TLS with the alert " + alert;
        };
    }

    /** The alert that the other end has sent; empty if it has not sent any. */
    private static String alert(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String message = String.valueOf(cause.getMessage());
            int at = message.indexOf(ALERT);
            if (cause instanceof SSLException && at >= 0) {
                return message.substring(at + ALERT.length()).trim().toLowerCase(Locale.ROOT);
            }
        }
        return "";
    }

    /** What Java says of it, without what wraps it. */
    private static String message(Throwable failure) {
        SSLException found = find(failure, SSLException.class);
        return Reasons.of(found == null ? failure : found);
    }

    private static <T extends Throwable> @Nullable T find(Throwable failure, Class<T> type) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
        }
        return null;
    }
}
