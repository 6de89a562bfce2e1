package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.tls.ClientAuthentication;
import io.conclave.tls.StoreType;
import io.conclave.tls.TlsSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** ZooKeeper's keys of TLS between servers. */
class PeerTlsKeysTest {
    private static final String STORES =
            "ssl.quorum.keyStore.location=/etc/own.jks\nssl.quorum.trustStore.location=/etc/trust.pem\n";

    @TempDir
    private Path directory;

    private EnsembleTls read(String text) throws IOException {
        return ConfigFile.read(Files.writeString(
                        directory.resolve("zoo.cfg"), "clientPort=2181\ndataDir=" + directory + "\n" + text))
                .ensemble()
                .tls();
    }

    private String refusal(String text) {
        return String.valueOf(
                assertThrows(ConfigException.class, () -> read(text)).getMessage());
    }

    @ParameterizedTest
    @CsvSource({"true, false", "true, true", "false, true", "TRUE, FALSE"})
    void bothKeysSayWhatIsDialledAndWhatIsTaken(boolean sslQuorum, boolean portUnification) throws IOException {
        EnsembleTls tls =
                read(STORES + "sslQuorum=" + sslQuorum + "\nzookeeper.portUnification=" + portUnification + "\n");
        assertEquals(sslQuorum, tls.dials());
        assertEquals(portUnification, tls.takesPlain());
        assertTrue(tls.verifiesCallers());
        assertTrue(tls.reloads());
        TlsSettings settings = tls.settings().orElseThrow();
        assertEquals(ClientAuthentication.NEED, settings.clientAuthentication());
        assertTrue(settings.verifiesServerNames());
        assertEquals(StoreType.JKS, settings.keyStore().orElseThrow().type());
        assertEquals(StoreType.PEM, settings.trustStore().orElseThrow().type());
        assertEquals(TlsSettings.DEFAULT_PROTOCOLS, settings.protocols());
    }

    @Test
    void withoutThemMembersUseNoTls() throws IOException {
        assertSame(EnsembleTls.NONE, read(""));
        assertSame(EnsembleTls.NONE, read(STORES + "sslQuorum=false\nssl.quorum.crl=true\n"));
    }

    @Test
    void everyKeyOfTheStoresIsUsed() throws IOException {
        EnsembleTls tls = read("""
                sslQuorum=true
                ssl.quorum.keyStore.location=/etc/own
                ssl.quorum.keyStore.type=pkcs12
                ssl.quorum.keyStore.password=hidden
                ssl.quorum.trustStore.location=/etc/trust.jks
                ssl.quorum.trustStore.passwordPath=/etc/password
                ssl.quorum.enabledProtocols=TLSv1.2, TLSv1.3
                ssl.quorum.protocol=TLSv1.3
                ssl.quorum.ciphersuites=TLS_AES_256_GCM_SHA384
                ssl.quorum.hostnameVerification=false
                ssl.quorum.clientAuth=need
                ssl.quorum.crl=true
                ssl.quorum.ocsp=true
                ssl.quorum.handshakeDetectionTimeoutMillis=5000
                sslQuorumReloadCertFiles=false
                """);
        TlsSettings settings = tls.settings().orElseThrow();
        assertEquals(StoreType.PKCS12, settings.keyStore().orElseThrow().type());
        assertFalse(tls.toString().contains("hidden"), tls.toString());
        assertTrue(settings.trustStore().orElseThrow().password().toString().contains("/etc/password"));
        assertEquals(List.of("TLSv1.2", "TLSv1.3"), settings.protocols());
        assertEquals(List.of("TLS_AES_256_GCM_SHA384"), settings.cipherSuites());
        assertFalse(settings.verifiesServerNames());
        assertFalse(tls.verifiesCallers(), "as that of the called, unless it is said");
        assertTrue(settings.checksCrl() && settings.checksOcsp());
        assertFalse(tls.reloads());
        assertFalse(read(STORES + "sslQuorum=true\nssl.quorum.clientHostnameVerification=false\n")
                .verifiesCallers());
    }

    @Test
    void linesThatBreakARuleAreNamed() {
        assertTrue(refusal("sslQuorum=yes\n").contains("line 3: key sslQuorum: \"yes\" is neither true nor false"));
        assertTrue(refusal("sslQuorum=true\n")
                .contains(
                        "the key ssl.quorum.keyStore.location is missing: sslQuorum or portUnification asks for TLS"));
        assertTrue(refusal("portUnification=true\nssl.quorum.keyStore.location=/a.pem\n")
                .contains("the key ssl.quorum.trustStore.location is missing"));
        assertTrue(refusal(STORES + "ssl.quorum.clientAuth=want\n").contains("only need is"));
        assertTrue(refusal("ssl.quorum.context.supplier.class=A\n").contains("is unknown, or not supported"));
        assertTrue(refusal(STORES + "sslQuorum=true\nssl.quorum.keyStore.type=BCFKS\n")
                .contains("\"BCFKS\" is none of JKS, PKCS12 and PEM"));
        assertTrue(
                refusal("sslQuorum=true\nssl.quorum.keyStore.location=/own\n").contains("its type is not known"));
    }
}
