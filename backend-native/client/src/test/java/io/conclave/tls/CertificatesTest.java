package io.conclave.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.tls.CertificateAuthority;
import java.security.cert.X509Certificate;
import org.junit.jupiter.api.Test;

/** Strangers choose what stands in their certificates, and what is refused is told in the log. */
class CertificatesTest {
    private static X509Certificate of(String subject, String... names) {
        return new CertificateAuthority("CN=Authority").issue(subject, names).certificate();
    }

    @Test
    void aSubjectCannotForgeALineOfTheLog() {
        X509Certificate certificate = of("CN=\"evil\n13:00:00 INFO forged\u202e\"");
        assertTrue(Certificates.subject(certificate).contains("\n"), "else this shows nothing");
        String words = Certificates.describe(certificate);
        assertTrue(words.startsWith("the certificate CN=evil?13:00:00 INFO forged? (issued by CN=Authority"), words);
        assertEquals(
                "CN=evil?13:00:00 INFO forged?", Certificates.names(certificate).get(0));
    }

    @Test
    void aSubjectCannotFillTheLog() {
        String words = Certificates.describe(of("CN=" + "x".repeat(60_000)));
        assertTrue(words.length() < 1_000, words);
    }
}
