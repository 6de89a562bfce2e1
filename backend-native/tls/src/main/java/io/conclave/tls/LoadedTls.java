package io.conclave.tls;

import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;

/** The stores as they were at one moment, ready to make engines. Immutable. */
final class LoadedTls {
    private final TlsSettings settings;
    private final SSLContext context;
    private final Optional<X509Certificate> certificate;

    private LoadedTls(TlsSettings settings, SSLContext context, Optional<X509Certificate> certificate) {
        this.settings = settings;
        this.context = context;
        this.certificate = certificate;
    }

    /** Reads the stores. Blocks. */
    static LoadedTls read(TlsSettings settings) {
        Optional<KeyMaterial> key = settings.keyStore().map(store -> new StoreReader(store).key());
        TrustManager trust = new TrustReader(settings).trustManager();
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            KeyManager[] keys = key.map(KeyMaterial::keyManagers).orElse(new KeyManager[0]);
            context.init(keys, new TrustManager[] {trust}, null);
            LoadedTls loaded = new LoadedTls(settings, context, key.map(KeyMaterial::certificate));
            loaded.checkWords();
            return loaded;
        } catch (GeneralSecurityException e) {
            throw new TlsException("this Java cannot use TLS: " + Reasons.of(e), e);
        }
    }

    private void checkWords() {
        SSLParameters supported = context.getSupportedSSLParameters();
        check("enabledProtocols", settings.protocols(), List.of(supported.getProtocols()));
        check("ciphersuites", settings.cipherSuites(), List.of(supported.getCipherSuites()));
    }

    private void check(String key, List<String> words, List<String> known) {
        for (String word : words) {
            if (!known.contains(word)) {
                throw new TlsException(
                        settings.keyPrefix() + key + ": this Java does not have " + word + "; it has " + known);
            }
        }
    }

    Optional<X509Certificate> certificate() {
        return certificate;
    }

    /** @param host who calls, for the check of its certificate */
    SSLEngine serverEngine(String host, int port) {
        SSLEngine engine = context.createSSLEngine(host, port);
        engine.setUseClientMode(false);
        SSLParameters parameters = parameters();
        switch (settings.clientAuthentication()) {
            case NEED -> parameters.setNeedClientAuth(true);
            case WANT -> parameters.setWantClientAuth(true);
            case NONE -> {}
        }
        if (settings.verifiesClientAddresses()) {
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
        }
        engine.setSSLParameters(parameters);
        return engine;
    }

    /** @param host who is called, as the caller knows it: the certificate must be for this name or address */
    SSLEngine clientEngine(String host, int port) {
        SSLEngine engine = context.createSSLEngine(host, port);
        engine.setUseClientMode(true);
        SSLParameters parameters = parameters();
        if (settings.verifiesServerNames()) {
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
        }
        engine.setSSLParameters(parameters);
        return engine;
    }

    private SSLParameters parameters() {
        SSLParameters parameters = context.getDefaultSSLParameters();
        parameters.setProtocols(settings.protocols().toArray(String[]::new));
        if (!settings.cipherSuites().isEmpty()) {
            parameters.setCipherSuites(settings.cipherSuites().toArray(String[]::new));
        }
        return parameters;
    }
}
