package io.conclave.tls;

import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.ImmediateExecutor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.cert.X509Certificate;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the handlers of TLS for one end, from its stores as they were read last. Any thread may call it; only
 * the static methods and {@link #reloadIfChanged} block, on files.
 */
public final class TlsContext {
    private static final Logger LOG = LoggerFactory.getLogger(TlsContext.class);

    private final TlsSettings settings;
    private final Function<String, Executor> ofCallers;
    private final Executor ofOwnCalls;
    private volatile LoadedTls loaded;
    private String fingerprint;

    private TlsContext(TlsSettings settings, Function<String, Executor> ofCallers, Executor executor) {
        this.settings = settings;
        this.ofCallers = ofCallers;
        // only a question about a revocation blocks
        this.ofOwnCalls = settings.checksRevocation() ? executor : ImmediateExecutor.INSTANCE;
        this.fingerprint = fingerprint();
        this.loaded = LoadedTls.read(settings);
        warnIfOutOfDate();
    }

    /**
     * Reads the stores of an end that is called, and may call others.
     *
     * @param executor computes the handshakes of callers, and runs what blocks in the others: questions about revoked
     *     certificates. A handshake that it refuses fails
     * @throws TlsException if a store is missing or cannot be used
     */
    public static TlsContext forServer(TlsSettings settings, Executor executor) {
        requireStoresOfServer(settings);
        return forClient(settings, executor);
    }

    /**
     * Reads the stores of an end that calls nobody.
     *
     * @param ofCallers what computes the handshakes of callers, by their addresses. A handshake that it refuses fails
     * @throws TlsException if a store is missing or cannot be used
     */
    public static TlsContext forServerByAddress(TlsSettings settings, Function<String, Executor> ofCallers) {
        requireStoresOfServer(settings);
        requireTrustForRevocation(settings);
        return new TlsContext(settings, ofCallers, ImmediateExecutor.INSTANCE);
    }

    private static void requireStoresOfServer(TlsSettings settings) {
        if (settings.keyStore().isEmpty()) {
            throw new TlsException(settings.keyPrefix() + "keyStore.location is not set: a server needs a certificate");
        }
        if (settings.clientAuthentication() != ClientAuthentication.NONE) {
            requireTrustStore(
                    settings,
                    "it says who may sign the certificates of clients (" + settings.keyPrefix()
                            + "clientAuth=none asks for none)");
        }
    }

    /**
     * Reads the stores of an end that calls.
     *
     * @param executor runs the parts of handshakes that block: questions about revoked certificates
     * @throws TlsException if a store cannot be used
     */
    public static TlsContext forClient(TlsSettings settings, Executor executor) {
        requireTrustForRevocation(settings);
        return new TlsContext(settings, address -> executor, executor);
    }

    private static void requireTrustForRevocation(TlsSettings settings) {
        if (settings.checksRevocation()) {
            requireTrustStore(settings, "revoked certificates are looked for with its authorities");
        }
    }

    private static void requireTrustStore(TlsSettings settings, String reason) {
        if (settings.trustStore().isEmpty()) {
            throw new TlsException(settings.keyPrefix() + "trustStore.location is not set: " + reason);
        }
    }

    public TlsSettings settings() {
        return settings;
    }

    /**
     * A handler for a connection that was accepted.
     *
     * @param address where the caller calls from, as a number
     */
    public SslHandler serverHandler(String address, int port) {
        return handler(loaded.serverEngine(address, port), ofCallers.apply(address));
    }

    /**
     * A handler for a connection to a server.
     *
     * @param host the name or address under which the server is known here
     */
    public SslHandler clientHandler(String host, int port) {
        return handler(loaded.clientEngine(host, port), ofOwnCalls);
    }

    private SslHandler handler(SSLEngine engine, Executor executor) {
        SslHandler handler = new SslHandler(engine, executor);
        handler.setHandshakeTimeoutMillis(settings.handshakeTimeout().toMillis());
        return handler;
    }

    /** The certificate that the other end has shown in a handshake that succeeded; empty if it has shown none. */
    public static Optional<X509Certificate> peerCertificate(SslHandler handler) {
        try {
            return handler.engine().getSession().getPeerCertificates()[0] instanceof X509Certificate found
                    ? Optional.of(found)
                    : Optional.empty();
        } catch (SSLPeerUnverifiedException e) {
            return Optional.empty();
        }
    }

    /** Its subject in the form of RFC 2253, such as {@code CN=bob,O=example}. */
    public static Optional<String> peerSubject(SslHandler handler) {
        return peerCertificate(handler).map(Certificates::subject);
    }

    /** Why a handshake with a caller failed: one sentence that names the certificate and the reason. */
    public String explainAsServer(Throwable failure) {
        return new HandshakeFailure(settings, loaded.certificate()).asServer(failure);
    }

    /** Why a handshake with a server failed: one sentence that names the certificate and the reason. */
    public String explainAsClient(Throwable failure) {
        return new HandshakeFailure(settings, loaded.certificate()).asClient(failure, true);
    }

    /**
     * Why a server refused a connection after the handshake: in TLS 1.3 it looks at the certificate then.
     *
     * @param showedOwn whether the own certificate was sent, as {@link #showedOwn} told after the handshake
     */
    public String explainAsClient(Throwable failure, boolean showedOwn) {
        return new HandshakeFailure(settings, loaded.certificate()).asClient(failure, showedOwn);
    }

    /**
     * Whether the own certificate was sent in a handshake that succeeded. Java sends none if the other end has named
     * its authorities, and the own one is of none of them.
     */
    public static boolean showedOwn(SslHandler handler) {
        return handler.engine().getSession().getLocalCertificates() != null;
    }

    /** Whether a failure of a connection is one of TLS; others are not for {@code explain...}. */
    public static boolean isTlsFailure(Throwable failure) {
        return HandshakeFailure.concerns(failure);
    }

    /**
     * Reads the stores again if their content has changed. What cannot be used is told in the log, once, and changes
     * nothing. Connections that are up stay up. Blocks; call it once a second at most.
     *
     * @return whether new connections use other stores from now on
     */
    public synchronized boolean reloadIfChanged() {
        String present = fingerprint();
        if (present.equals(fingerprint)) {
            return false;
        }
        fingerprint = present;
        try {
            loaded = LoadedTls.read(settings);
        } catch (TlsException e) {
            LOG.warn("TLS goes on with the certificates that were read before: {}", e.getMessage());
            return false;
        }
        LOG.info(
                "Read the certificates of TLS again ({}): {}. New connections use them",
                settings.keyPrefix() + "*",
                loaded.certificate().map(Certificates::describe).orElse("there is no own one"));
        warnIfOutOfDate();
        return true;
    }

    private void warnIfOutOfDate() {
        loaded.certificate().ifPresent(own -> {
            String outOfDate = Certificates.outOfDate(own);
            if (!outOfDate.isEmpty()) {
                LOG.warn(
                        "{}: {} {}. Others will refuse it: replace it",
                        settings.keyStore().map(StoreFile::toString).orElse(""),
                        Certificates.describe(own),
                        outOfDate);
            }
        });
    }

    /** What tells whether any of the files has changed. */
    private String fingerprint() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (Path file : files()) {
                digest.update(file.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8));
                try {
                    digest.update(Files.readAllBytes(file));
                } catch (IOException e) {
                    digest.update((byte) 0);
                }
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private Set<Path> files() {
        Set<Path> files = new LinkedHashSet<>();
        for (Optional<StoreFile> store : java.util.List.of(settings.keyStore(), settings.trustStore())) {
            store.ifPresent(found -> {
                files.add(found.location());
                found.password().file().ifPresent(files::add);
            });
        }
        return files;
    }
}
