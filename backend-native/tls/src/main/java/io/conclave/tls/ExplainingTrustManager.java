package io.conclave.tls;

import java.net.Socket;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.PKIXReason;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/** Java's rules of trust, with refusals that name the certificate and the reason. */
final class ExplainingTrustManager extends X509ExtendedTrustManager {
    private final X509ExtendedTrustManager rules;

    /** What the authorities come from: a trust store, or Java's own. */
    private final String origin;

    ExplainingTrustManager(X509ExtendedTrustManager rules, String origin) {
        this.rules = rules;
        this.origin = origin;
    }

    private interface Check {
        void run() throws CertificateException;
    }

    private void check(X509Certificate[] chain, @Nullable SSLEngine engine, Check check) throws CertificateException {
        try {
            check.run();
        } catch (CertificateException e) {
            // Java chooses the alert by a cause of this class
            Throwable cause = e.getCause() instanceof CertPathValidatorException found ? found : e;
            throw new RefusedCertificateException(explain(chain, engine, e), cause);
        }
    }

    private String explain(X509Certificate[] chain, @Nullable SSLEngine engine, CertificateException failure) {
        for (X509Certificate certificate : chain) {
            String outOfDate = Certificates.outOfDate(certificate);
            if (!outOfDate.isEmpty()) {
                return Certificates.describe(certificate) + " " + outOfDate;
            }
        }
        String own = Certificates.describe(chain[0]);
        if (hasNoAnchor(failure)) {
            int known = rules.getAcceptedIssuers().length;
            return own + " is not signed by any of the " + known + (known == 1 ? " authority in " : " authorities in ")
                    + origin;
        }
        if (engine != null
                && engine.getSSLParameters().getEndpointIdentificationAlgorithm() != null
                && failure.getCause() == null) {
            return own + " is for " + String.join(", ", Certificates.names(chain[0])) + ", not for "
                    + engine.getPeerHost();
        }
        return own + " is refused: " + Reasons.of(root(failure));
    }

    private static boolean hasNoAnchor(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertPathBuilderException
                    || (cause instanceof CertPathValidatorException found
                            && found.getReason() == PKIXReason.NO_TRUST_ANCHOR)) {
                return true;
            }
        }
        return false;
    }

    private static Throwable root(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        check(chain, engine, () -> rules.checkClientTrusted(chain, authType, engine));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        check(chain, engine, () -> rules.checkServerTrusted(chain, authType, engine));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        check(chain, null, () -> rules.checkClientTrusted(chain, authType, socket));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        check(chain, null, () -> rules.checkServerTrusted(chain, authType, socket));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        check(chain, null, () -> rules.checkClientTrusted(chain, authType));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        check(chain, null, () -> rules.checkServerTrusted(chain, authType));
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return rules.getAcceptedIssuers();
    }
}
