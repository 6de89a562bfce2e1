package io.conclave.tls;

import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertPathBuilder;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.PKIXRevocationChecker;
import java.security.cert.X509CertSelector;
import java.security.cert.X509Certificate;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import javax.net.ssl.CertPathTrustManagerParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/** Makes the rules by which certificates of others are trusted. Blocks. */
final class TrustReader {
    private final TlsSettings settings;

    TrustReader(TlsSettings settings) {
        this.settings = settings;
    }

    TrustManager trustManager() {
        String origin = settings.trustStore()
                .map(store -> "the trust store " + store.location())
                .orElse("the trust store of this Java, since " + settings.keyPrefix()
                        + "trustStore.location is not set");
        try {
            TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
            KeyStore authorities =
                    settings.trustStore().map(TrustReader::authorities).orElse(null);
            if (settings.checksRevocation() && authorities != null) {
                factory.init(new CertPathTrustManagerParameters(revocation(authorities)));
            } else {
                factory.init(authorities);
            }
            return new ExplainingTrustManager(extended(factory), origin);
        } catch (GeneralSecurityException e) {
            throw new TlsException(origin + " cannot be used: " + Reasons.of(e), e);
        }
    }

    private static KeyStore authorities(StoreFile store) {
        List<X509Certificate> certificates = new StoreReader(store).authorities();
        try {
            KeyStore memory = KeyStore.getInstance("PKCS12");
            memory.load(null, null);
            for (int i = 0; i < certificates.size(); i++) {
                memory.setCertificateEntry("authority" + i, certificates.get(i));
            }
            return memory;
        } catch (GeneralSecurityException | java.io.IOException e) {
            throw store.error("Java cannot use its certificates: " + Reasons.of(e), e);
        }
    }

    private PKIXBuilderParameters revocation(KeyStore authorities) throws GeneralSecurityException {
        PKIXBuilderParameters rules = new PKIXBuilderParameters(authorities, new X509CertSelector());
        PKIXRevocationChecker checker =
                (PKIXRevocationChecker) CertPathBuilder.getInstance("PKIX").getRevocationChecker();
        Set<PKIXRevocationChecker.Option> options = EnumSet.noneOf(PKIXRevocationChecker.Option.class);
        if (!settings.checksOcsp()) {
            options.add(PKIXRevocationChecker.Option.PREFER_CRLS);
        }
        if (!(settings.checksOcsp() && settings.checksCrl())) {
            options.add(PKIXRevocationChecker.Option.NO_FALLBACK);
        }
        checker.setOptions(options);
        rules.addCertPathChecker(checker);
        return rules;
    }

    private static X509ExtendedTrustManager extended(TrustManagerFactory factory) {
        for (@Nullable TrustManager manager : factory.getTrustManagers()) {
            if (manager instanceof X509ExtendedTrustManager found) {
                return found;
            }
        }
        throw new TlsException("this Java has no trust manager for certificates of X.509");
    }
}
