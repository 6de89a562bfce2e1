package io.conclave.consensus.peer;

import io.conclave.consensus.PeerTls;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.testkit.tls.TestCertificate;
import io.conclave.tls.StoreFile;
import io.conclave.tls.StorePassword;
import io.conclave.tls.TlsContext;
import io.conclave.tls.TlsSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/** Certificates of members that are tests, and what they do with them. */
final class TestTls {
    static final String HOST = "127.0.0.1";
    static final Executor HANDSHAKES = Executors.newFixedThreadPool(2, work -> {
        Thread thread = new Thread(work, "test-handshake");
        thread.setDaemon(true);
        return thread;
    });

    final CertificateAuthority authority = new CertificateAuthority("CN=authority of the members");
    final TestCertificate own = authority.issue("CN=a member", HOST);
    private final SSLSocketFactory sockets;
    private final Path directory;

    TestTls() {
        try {
            directory = Files.createTempDirectory("conclave-tls");
            directory.toFile().deleteOnExit();
            sockets = javaContext(Optional.of(own)).getSocketFactory();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** With the certificate, and trust in the authority, from files that may be replaced. */
    TlsContext context(String name, TestCertificate certificate, CertificateAuthority trusted) {
        Path key = certificate.writePem(directory.resolve(name + ".pem"));
        Path trust = trusted.writePem(directory.resolve(name + "-trust.pem"));
        key.toFile().deleteOnExit(); // before the folder, which is older
        trust.toFile().deleteOnExit();
        return TlsContext.forServer(
                TlsSettings.builder("ssl.quorum.")
                        .keyStore(StoreFile.of("ssl.quorum.keyStore.location", key, StorePassword.none()))
                        .trustStore(StoreFile.of("ssl.quorum.trustStore.location", trust, StorePassword.none()))
                        .build(),
                HANDSHAKES);
    }

    Path file(String name) {
        return directory.resolve(name + ".pem");
    }

    static PeerTls tls(TlsContext context, boolean dials, boolean takesPlain, boolean verifiesCallers) {
        return new PeerTls(Optional.of(context), dials, takesPlain, verifiesCallers, HANDSHAKES);
    }

    /** Of a member that speaks nothing else, to others that need not be listed. */
    PeerTls members() {
        return tls(context("own", own, authority), true, false, false);
    }

    /** TLS on a socket that is connected, with the certificate of a member. */
    Socket over(Socket plain, boolean calls) throws IOException {
        return over(plain, calls, sockets);
    }

    /** With another certificate. */
    Socket over(Socket plain, boolean calls, TestCertificate certificate) throws IOException {
        try {
            return over(plain, calls, javaContext(Optional.of(certificate)).getSocketFactory());
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    /** As a caller that has none. */
    Socket withoutCertificate(Socket plain) throws IOException {
        try {
            return over(plain, true, javaContext(Optional.empty()).getSocketFactory());
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    private static Socket over(Socket plain, boolean calls, SSLSocketFactory factory) throws IOException {
        SSLSocket socket = (SSLSocket) factory.createSocket(plain, HOST, plain.getPort(), true);
        socket.setUseClientMode(calls);
        socket.setNeedClientAuth(!calls);
        return socket;
    }

    private SSLContext javaContext(Optional<TestCertificate> certificate) throws GeneralSecurityException, IOException {
        char[] password = "in memory".toCharArray();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        if (certificate.isPresent()) {
            Certificate[] chain = {
                certificate.get().certificate(), certificate.get().issuer()
            };
            keys.setKeyEntry("own", certificate.get().key(), password, chain);
        }
        KeyManagerFactory keyManagers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keyManagers.init(keys, password);
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("authority", authority.certificate());
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keyManagers.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }
}
