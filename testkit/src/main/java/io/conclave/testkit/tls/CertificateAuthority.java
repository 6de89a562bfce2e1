package io.conclave.testkit.tls;

import io.conclave.time.TimeSource;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.security.auth.x500.X500Principal;

/**
 * A certificate authority for tests, with keys of elliptic curves, which are made in no time. Its own certificate and
 * those that it issues are valid from a day ago until in ten years, unless something else is asked for.
 */
public final class CertificateAuthority {
    private static final String SIGNATURE = "1.2.840.10045.4.3.2"; // ecdsa-with-SHA256
    private static final Instant START =
            Instant.ofEpochMilli(TimeSource.system().wallMillis()).minus(Duration.ofDays(1));
    private static final Instant END = START.plus(Duration.ofDays(3650));
    /** Of a public key, at the end of its encoded form. */
    private static final int POINT_BYTES = 65;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final X500Principal name;
    private final KeyPair keys;
    private final X509Certificate certificate;
    private final Optional<Path> revocations;
    private final Optional<URI> responder;

    /** @param name such as {@code CN=an authority} */
    public CertificateAuthority(String name) {
        this(name, Optional.empty(), Optional.empty());
    }

    /**
     * One whose certificates name a file with a list of those that are revoked. There is none until {@link #revoke}.
     */
    public CertificateAuthority(String name, Path revocations) {
        this(name, Optional.of(revocations), Optional.empty());
    }

    /** One whose certificates name a responder that is asked whether they are revoked: see {@link #answerOf}. */
    public CertificateAuthority(String name, URI responder) {
        this(name, Optional.empty(), Optional.of(responder));
    }

    private CertificateAuthority(String name, Optional<Path> revocations, Optional<URI> responder) {
        this.revocations = revocations;
        this.responder = responder;
        this.name = new X500Principal(name);
        this.keys = newKeys();
        this.certificate = issue(this.name, keys.getPublic(), START, END, List.of(), true);
    }

    /** A certificate and its key; each name is a host or an address. */
    public TestCertificate issue(String subject, String... names) {
        return issue(subject, START, END, names);
    }

    /** One that expired a day ago. */
    public TestCertificate issueExpired(String subject, String... names) {
        return issue(subject, START.minus(Duration.ofDays(30)), START, names);
    }

    /** One that is valid in that time. */
    public TestCertificate issue(String subject, Instant from, Instant to, String... names) {
        KeyPair own = newKeys();
        X509Certificate issued = issue(new X500Principal(subject), own.getPublic(), from, to, List.of(names), false);
        return new TestCertificate(own.getPrivate(), issued, /* issuer= */ certificate);
    }

    public X509Certificate certificate() {
        return certificate;
    }

    /** Writes the list of revoked certificates anew, with these and no others. */
    public void revoke(TestCertificate... revoked) {
        byte[] algorithm = Der.sequence(Der.identifier(SIGNATURE));
        byte[][] entries = Stream.of(revoked)
                .map(one -> Der.sequence(Der.integer(one.certificate().getSerialNumber()), Der.time(START)))
                .toArray(byte[][]::new);
        byte[] content = Der.sequence(
                Der.integer(BigInteger.ONE),
                algorithm,
                name.getEncoded(),
                Der.time(START),
                Der.time(END),
                entries.length == 0 ? new byte[0] : Der.sequence(entries),
                Der.tagged(0xA0, Der.sequence(ownKey(), number())));
        TestCertificate.write(revocations.orElseThrow(), TestCertificate.pem("X509 CRL", signed(content, algorithm)));
    }

    /** What a responder says of a certificate (OCSP, RFC 6960), now. */
    public byte[] answerOf(TestCertificate certificate, boolean revoked) {
        byte[] now = Der.longTime(Instant.ofEpochMilli(TimeSource.system().wallMillis()));
        byte[] algorithm = Der.sequence(Der.identifier(SIGNATURE));
        byte[] key = keys.getPublic().getEncoded();
        byte[] asked = Der.sequence(
                Der.sequence(Der.identifier("1.3.14.3.2.26"), Der.tagged(0x05)), // SHA-1
                Der.octets(sha1(name.getEncoded())),
                Der.octets(sha1(Arrays.copyOfRange(key, key.length - POINT_BYTES, key.length))),
                Der.integer(certificate.certificate().getSerialNumber()));
        // long ago: Java counts no revocation that is younger than the handshake which asks
        byte[] status = revoked ? Der.tagged(0xA1, Der.longTime(START)) : Der.tagged(0x80);
        byte[] content =
                Der.sequence(Der.tagged(0xA1, name.getEncoded()), now, Der.sequence(Der.sequence(asked, status, now)));
        byte[] basic = Der.sequence(Der.identifier("1.3.6.1.5.5.7.48.1.1"), Der.octets(signed(content, algorithm)));
        return Der.sequence(Der.tagged(0x0A, new byte[1]), Der.tagged(0xA0, basic));
    }

    /** Names the key that has signed. */
    private byte[] ownKey() {
        return extension("2.5.29.35", false, Der.sequence(Der.tagged(0x80, identifier(keys.getPublic()))));
    }

    private static byte[] number() {
        return extension("2.5.29.20", false, Der.integer(BigInteger.ONE));
    }

    private byte[] signed(byte[] content, byte[] algorithm) {
        try {
            Signature signer = Signature.getInstance("SHA256withECDSA");
            signer.initSign(keys.getPrivate());
            signer.update(content);
            return Der.sequence(content, algorithm, Der.bits(signer.sign(), 0));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Writes its certificate, for those that trust it. */
    public Path writePem(Path file) {
        return TestCertificate.write(file, TestCertificate.pem("CERTIFICATE", TestCertificate.encoded(certificate)));
    }

    /** Writes a trust store of that type, PKCS12 or JKS. */
    public Path writeStore(Path file, String type, String password) {
        try (OutputStream out = Files.newOutputStream(file)) {
            KeyStore store = KeyStore.getInstance(type);
            store.load(null, null);
            store.setCertificateEntry("authority", certificate);
            store.store(out, password.toCharArray());
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static KeyPair newKeys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private X509Certificate issue(
            X500Principal subject, PublicKey key, Instant from, Instant to, List<String> names, boolean isAuthority) {
        byte[] algorithm = Der.sequence(Der.identifier(SIGNATURE));
        byte[] content = Der.sequence(
                Der.tagged(0xA0, Der.integer(BigInteger.TWO)),
                Der.integer(new BigInteger(120, RANDOM).setBit(119)),
                algorithm,
                name.getEncoded(),
                Der.sequence(Der.time(from), Der.time(to)),
                subject.getEncoded(),
                key.getEncoded(),
                Der.tagged(0xA3, Der.sequence(extensions(key, names, isAuthority))));
        try {
            byte[] all = signed(content, algorithm);
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(all));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private byte[][] extensions(PublicKey key, List<String> names, boolean isAuthority) {
        List<byte[]> extensions = new ArrayList<>();
        extensions.add(extension("2.5.29.14", false, Der.octets(identifier(key))));
        extensions.add(ownKey());
        if (isAuthority) {
            extensions.add(extension("2.5.29.19", true, Der.sequence(Der.yes())));
            // keyCertSign and cRLSign
            extensions.add(extension("2.5.29.15", true, Der.bits(new byte[] {0x06}, 1)));
        } else {
            // digitalSignature
            extensions.add(extension("2.5.29.15", true, Der.bits(new byte[] {(byte) 0x80}, 7)));
        }
        if (!isAuthority && revocations.isPresent()) {
            byte[] uri = Der.text(0x86, revocations.get().toUri().toString());
            extensions.add(
                    extension("2.5.29.31", false, Der.sequence(Der.sequence(Der.tagged(0xA0, Der.tagged(0xA0, uri))))));
        }
        if (!isAuthority && responder.isPresent()) {
            byte[] uri = Der.text(0x86, responder.get().toString());
            extensions.add(extension(
                    "1.3.6.1.5.5.7.1.1", false, Der.sequence(Der.sequence(Der.identifier("1.3.6.1.5.5.7.48.1"), uri))));
        }
        if (!names.isEmpty()) {
            byte[][] alternatives =
                    names.stream().map(CertificateAuthority::alternative).toArray(byte[][]::new);
            extensions.add(extension("2.5.29.17", false, Der.sequence(alternatives)));
        }
        return extensions.toArray(byte[][]::new);
    }

    private static byte[] extension(String identifier, boolean critical, byte[] value) {
        byte[] body = Der.octets(value);
        return critical
                ? Der.sequence(Der.identifier(identifier), Der.yes(), body)
                : Der.sequence(Der.identifier(identifier), body);
    }

    private static byte[] alternative(String name) {
        if (!name.matches("[0-9.]+") && !name.contains(":")) {
            return Der.text(0x82, name);
        }
        try {
            return Der.tagged(0x87, InetAddress.getByName(name).getAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] identifier(PublicKey key) {
        return sha1(key.getEncoded());
    }

    private static byte[] sha1(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-1").digest(bytes);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
