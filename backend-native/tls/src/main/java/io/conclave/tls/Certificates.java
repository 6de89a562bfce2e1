package io.conclave.tls;

import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Describes certificates in log lines and messages. */
final class Certificates {
    private static final int DNS_NAME = 2;
    private static final int ADDRESS = 7;

    private Certificates() {}

    /** As it is: for ids, not for messages. */
    static String subject(X509Certificate certificate) {
        return certificate.getSubjectX500Principal().getName();
    }

    static String describe(X509Certificate certificate) {
        return "the certificate " + Reasons.printable(subject(certificate)) + " (issued by "
                + Reasons.printable(certificate.getIssuerX500Principal().getName()) + ", valid from "
                + certificate.getNotBefore().toInstant() + " to "
                + certificate.getNotAfter().toInstant() + ")";
    }

    /** What is wrong with the time: "expired on ..."; empty if nothing is. */
    static String outOfDate(X509Certificate certificate) {
        try {
            certificate.checkValidity();
            return "";
        } catch (CertificateExpiredException e) {
            return "expired on " + certificate.getNotAfter().toInstant();
        } catch (CertificateNotYetValidException e) {
            return "is not valid before " + certificate.getNotBefore().toInstant();
        }
    }

    /** The hosts and addresses that it is for; without any, its subject. */
    static List<String> names(X509Certificate certificate) {
        List<String> names = new ArrayList<>();
        try {
            Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
            if (alternatives != null) {
                for (List<?> alternative : alternatives) {
                    if (alternative.get(0).equals(DNS_NAME)
                            || alternative.get(0).equals(ADDRESS)) {
                        names.add(Reasons.printable(String.valueOf(alternative.get(1))));
                    }
                }
            }
        } catch (CertificateParsingException e) {
            names.add("names that cannot be read: " + Reasons.of(e));
        }
        return names.isEmpty() ? List.of(Reasons.printable(subject(certificate))) : names;
    }
}
