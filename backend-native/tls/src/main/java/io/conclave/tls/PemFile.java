package io.conclave.tls;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKey;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.jspecify.annotations.Nullable;

/** The certificates and the private key of a file in PEM. Texts between its parts are comments. */
final class PemFile {
    private static final Pattern PART =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----\\s(.*?)-----END \\1-----", Pattern.DOTALL);
    private static final List<String> ALGORITHMS = List.of("RSA", "EC", "EdDSA", "DSA");

    private final StoreFile store;
    private final List<Part> parts = new ArrayList<>();

    private record Part(String kind, String body) {}

    PemFile(StoreFile store, byte[] content) {
        this.store = store;
        Matcher matcher = PART.matcher(new String(content, StandardCharsets.ISO_8859_1));
        while (matcher.find()) {
            parts.add(new Part(matcher.group(1), matcher.group(2)));
        }
        if (parts.isEmpty()) {
            throw store.error("it is no PEM file: it has no line -----BEGIN ...-----");
        }
    }

    List<X509Certificate> certificates() {
        List<X509Certificate> certificates = new ArrayList<>();
        for (Part part : parts) {
            if (part.kind().equals("CERTIFICATE") || part.kind().equals("X509 CERTIFICATE")) {
                certificates.add(certificate(part, certificates.size() + 1));
            }
        }
        return certificates;
    }

    private X509Certificate certificate(Part part, int number) {
        try {
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(bytes(part)));
        } catch (CertificateException e) {
            throw store.error("certificate " + number + " of the file cannot be read: " + Reasons.of(e), e);
        }
    }

    PrivateKey privateKey(char @Nullable [] password) {
        for (Part part : parts) {
            switch (part.kind()) {
                case "PRIVATE KEY" -> {
                    return key(new PKCS8EncodedKeySpec(bytes(part)));
                }
                case "ENCRYPTED PRIVATE KEY" -> {
                    return key(decrypted(part, password));
                }
                case "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY" ->
                    throw store.error("its private key is not in the form PKCS#8 but in an older one (" + part.kind()
                            + "): convert it with openssl pkcs8 -topk8");
                default -> {}
            }
        }
        throw store.error("it has no private key (PEM: certificate chain and PKCS#8 key in one file)");
    }

    private PKCS8EncodedKeySpec decrypted(Part part, char @Nullable [] password) {
        if (password == null) {
            throw store.error("its private key is encrypted, and no password is set");
        }
        try {
            EncryptedPrivateKeyInfo info = new EncryptedPrivateKeyInfo(bytes(part));
            // that of PBES2 is in the parameters, with the digest and the cipher in its name
            String name = info.getAlgParameters() == null
                    ? info.getAlgName()
                    : info.getAlgParameters().toString();
            String algorithm = name.startsWith("PBE") ? name : info.getAlgName();
            SecretKey secret = SecretKeyFactory.getInstance(algorithm).generateSecret(new PBEKeySpec(password));
            Cipher cipher = Cipher.getInstance(algorithm);
            cipher.init(Cipher.DECRYPT_MODE, secret, info.getAlgParameters());
            return info.getKeySpec(cipher);
        } catch (InvalidKeySpecException e) {
            throw store.error("the password of its private key is wrong", e);
        } catch (GeneralSecurityException | java.io.IOException e) {
            throw store.error("its encrypted private key cannot be read: " + Reasons.of(e), e);
        }
    }

    private PrivateKey key(PKCS8EncodedKeySpec spec) {
        for (String algorithm : ALGORITHMS) {
            Optional<PrivateKey> key = key(algorithm, spec);
            if (key.isPresent()) {
                return key.get();
            }
        }
        throw store.error("its private key is damaged, or of none of the kinds " + ALGORITHMS);
    }

    /** Empty if it is a key of another algorithm. */
    private Optional<PrivateKey> key(String algorithm, PKCS8EncodedKeySpec spec) {
        try {
            return Optional.of(KeyFactory.getInstance(algorithm).generatePrivate(spec));
        } catch (InvalidKeySpecException e) {
            return Optional.empty();
        } catch (GeneralSecurityException e) {
            throw store.error("this Java cannot read its private key: " + Reasons.of(e), e);
        }
    }

    private byte[] bytes(Part part) {
        try {
            return Base64.getMimeDecoder().decode(part.body());
        } catch (IllegalArgumentException e) {
            throw store.error("a part of it (" + part.kind() + ") is not in Base64", e);
        }
    }
}
