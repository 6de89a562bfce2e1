package io.conclave.testkit.tls;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.PBEParameterSpec;

/**
 * A private key and its certificate, to be written into files of every form.
 *
 * @param issuer the certificate of the authority that signed it
 */
public record TestCertificate(PrivateKey key, X509Certificate certificate, X509Certificate issuer) {
    private static final String CIPHER = "PBEWithHmacSHA256AndAES_256";

    private static final String PBES2 = "1.2.840.113549.1.5.13";

    /** Writes chain and key, unencrypted, into one file; it replaces an older one in one step. */
    public Path writePem(Path file) {
        return write(file, chain() + pem("PRIVATE KEY", key.getEncoded()));
    }

    /** Writes chain and encrypted key into one file. */
    public Path writeEncryptedPem(Path file, String password) {
        try {
            byte[] salt = new byte[16];
            new SecureRandom().nextBytes(salt);
            SecretKey secret =
                    SecretKeyFactory.getInstance(CIPHER).generateSecret(new PBEKeySpec(password.toCharArray()));
            Cipher cipher = Cipher.getInstance(CIPHER);
            cipher.init(Cipher.ENCRYPT_MODE, secret, new PBEParameterSpec(salt, 2048));
            byte[] algorithm =
                    Der.sequence(Der.identifier(PBES2), cipher.getParameters().getEncoded());
            byte[] info = Der.sequence(algorithm, Der.octets(cipher.doFinal(key.getEncoded())));
            return write(file, chain() + pem("ENCRYPTED PRIVATE KEY", info));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes the chain only. */
    public Path writeChain(Path file) {
        return write(file, chain());
    }

    /** Writes the key only, unencrypted. */
    public Path writeKey(Path file) {
        return write(file, pem("PRIVATE KEY", key.getEncoded()));
    }

    /** Writes a key store of that type, PKCS12 or JKS. */
    public Path writeStore(Path file, String type, String password) {
        try (OutputStream out = Files.newOutputStream(file)) {
            KeyStore store = KeyStore.getInstance(type);
            store.load(null, null);
            store.setKeyEntry("own", key, password.toCharArray(), new Certificate[] {certificate, issuer});
            store.store(out, password.toCharArray());
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The subject as the scheme x509 has it. */
    public String subject() {
        return certificate.getSubjectX500Principal().getName();
    }

    private String chain() {
        return pem("CERTIFICATE", encoded(certificate)) + pem("CERTIFICATE", encoded(issuer));
    }

    static byte[] encoded(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException(e);
        }
    }

    static String pem(String kind, byte[] content) {
        String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        return "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n";
    }

    static Path write(Path file, String text) {
        try {
            Path next = file.resolveSibling(file.getFileName() + ".next");
            Files.write(next, text.getBytes(StandardCharsets.US_ASCII));
            return Files.move(next, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Without the key. */
    @Override
    public String toString() {
        return "TestCertificate[" + subject() + "]";
    }
}
