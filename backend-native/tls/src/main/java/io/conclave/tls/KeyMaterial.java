package io.conclave.tls;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;

/** A private key and the certificates that go with it, the own one first. */
final class KeyMaterial {
    private static final String ALIAS = "own";
    private static final char[] IN_MEMORY = "in memory only".toCharArray();

    private final StoreFile store;
    private final PrivateKey key;
    private final List<X509Certificate> chain;

    KeyMaterial(StoreFile store, PrivateKey key, List<X509Certificate> chain) {
        this.store = store;
        this.key = key;
        this.chain = List.copyOf(chain);
        if (chain.isEmpty()) {
            throw store.error("it has a private key, and no certificate for it");
        }
        if (!fits()) {
            throw store.error("its private key does not match " + Certificates.describe(certificate())
                    + "; the first certificate must be the key's own");
        }
    }

    X509Certificate certificate() {
        return chain.get(0);
    }

    KeyManager[] keyManagers() {
        try {
            KeyStore memory = KeyStore.getInstance("PKCS12");
            memory.load(null, null);
            memory.setKeyEntry(ALIAS, key, IN_MEMORY, chain.toArray(X509Certificate[]::new));
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(memory, IN_MEMORY);
            return factory.getKeyManagers();
        } catch (GeneralSecurityException | java.io.IOException e) {
            throw store.error("Java cannot use its key: " + Reasons.of(e), e);
        }
    }

    /** Whether what the key signs is what the certificate proves; true where Java cannot tell. */
    private boolean fits() {
        PublicKey known = certificate().getPublicKey();
        if (!known.getAlgorithm().equals(key.getAlgorithm())) {
            return false;
        }
        String algorithm =
                switch (key.getAlgorithm()) {
                    case "RSA" -> "SHA256withRSA";
                    case "EC" -> "SHA256withECDSA";
                    case "DSA" -> "SHA256withDSA";
                    default -> key.getAlgorithm();
                };
        byte[] text = "does it fit".getBytes(StandardCharsets.US_ASCII);
        try {
            Signature signer = Signature.getInstance(algorithm);
            signer.initSign(key);
            signer.update(text);
            byte[] signature = signer.sign();
            signer.initVerify(known);
            signer.update(text);
            return signer.verify(signature);
        } catch (java.security.NoSuchAlgorithmException e) {
            return true;
        } catch (GeneralSecurityException e) {
            return false;
        }
    }
}
