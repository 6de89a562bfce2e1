package io.conclave.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.UnrecoverableKeyException;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads one store. Blocks; each error names the store and the reason. */
final class StoreReader {
    private final StoreFile store;

    StoreReader(StoreFile store) {
        this.store = store;
    }

    /** The key, with its certificates. */
    KeyMaterial key() {
        char[] password = store.password().read(store);
        if (store.type() == StoreType.PEM) {
            PemFile pem = new PemFile(store, content());
            return new KeyMaterial(store, pem.privateKey(password), pem.certificates());
        }
        KeyStore keys = keyStore(password);
        try {
            List<String> aliases = Collections.list(keys.aliases());
            Collections.sort(aliases);
            for (String alias : aliases) {
                if (keys.isKeyEntry(alias)) {
                    return entry(keys, alias, password);
                }
            }
            throw store.error("it has no private key; its entries: " + aliases);
        } catch (GeneralSecurityException e) {
            throw store.error("it cannot be read: " + Reasons.of(e), e);
        }
    }

    private KeyMaterial entry(KeyStore keys, String alias, char @Nullable [] password) throws GeneralSecurityException {
        Key key;
        try {
            key = keys.getKey(alias, password == null ? new char[0] : password);
        } catch (UnrecoverableKeyException e) {
            throw store.error("the key of its entry " + alias + " has another password than the store", e);
        }
        if (!(key instanceof PrivateKey privateKey)) {
            throw store.error("its entry " + alias + " is no private key");
        }
        List<X509Certificate> chain = new ArrayList<>();
        Certificate[] certificates = keys.getCertificateChain(alias);
        if (certificates != null) {
            for (Certificate certificate : certificates) {
                chain.add((X509Certificate) certificate);
            }
        }
        return new KeyMaterial(store, privateKey, chain);
    }

    /** The authorities, one at least. */
    List<X509Certificate> authorities() {
        char[] password = store.password().read(store);
        if (store.type() == StoreType.PEM) {
            List<X509Certificate> certificates = new PemFile(store, content()).certificates();
            if (certificates.isEmpty()) {
                throw store.error("it has no certificate");
            }
            return certificates;
        }
        KeyStore keys = keyStore(password);
        List<X509Certificate> trusted = new ArrayList<>();
        try {
            List<String> aliases = Collections.list(keys.aliases());
            for (String alias : aliases) {
                if (keys.isCertificateEntry(alias) && keys.getCertificate(alias) instanceof X509Certificate found) {
                    trusted.add(found);
                }
            }
            if (trusted.isEmpty()) {
                throw store.error("it has no trusted certificate; its entries: " + aliases
                        + (password == null ? "; no password is set" : "")
                        + "; add authorities with keytool -importcert, or use PEM");
            }
        } catch (GeneralSecurityException e) {
            throw store.error("it cannot be read: " + Reasons.of(e), e);
        }
        return trusted;
    }

    private KeyStore keyStore(char @Nullable [] password) {
        byte[] content = content();
        try {
            KeyStore keys = KeyStore.getInstance(store.type().name());
            keys.load(new ByteArrayInputStream(content), password);
            return keys;
        } catch (IOException e) {
            if (e.getCause() instanceof UnrecoverableKeyException) {
                throw store.error("its password is wrong", e);
            }
            throw store.error("it is no store of type " + store.type() + ": " + Reasons.of(e), e);
        } catch (GeneralSecurityException e) {
            throw store.error("it cannot be read: " + Reasons.of(e), e);
        }
    }

    private byte[] content() {
        try {
            return Files.readAllBytes(store.location());
        } catch (IOException e) {
            throw store.error("it cannot be read: " + Reasons.of(e), e);
        }
    }
}
