package io.conclave.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.testkit.tls.TestCertificate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores of every form are read, and what is wrong with one is told with its file, key and certificate. */
class TlsStoresTest {
    private static final CertificateAuthority AUTHORITY = new CertificateAuthority("CN=an authority");
    private static final TestCertificate OWN = AUTHORITY.issue("CN=own,O=example", "localhost");
    private static final String PASSWORD = "a secret word";

    @TempDir
    private Path directory;

    private Path file(String name) {
        return directory.resolve(name);
    }

    private static StoreFile store(Path file, String password) {
        return StoreFile.of(
                "ssl.keyStore.location", file, password.isEmpty() ? StorePassword.none() : StorePassword.of(password));
    }

    private static TlsSettings settings(StoreFile keyStore) {
        return TlsSettings.builder("ssl.")
                .keyStore(keyStore)
                .clientAuthentication(ClientAuthentication.NONE)
                .build();
    }

    private static TlsContext server(StoreFile keyStore) {
        return TlsContext.forServer(settings(keyStore), Runnable::run);
    }

    private static String refusal(StoreFile keyStore) {
        return message(() -> server(keyStore));
    }

    private static String message(Runnable reading) {
        String message = assertThrows(TlsException.class, reading::run).getMessage();
        assertFalse(message.contains(PASSWORD) || message.contains("wrong one"), message);
        return message;
    }

    private static void assertHas(String text, String... parts) {
        for (String part : parts) {
            assertTrue(text.contains(part), () -> "no \"" + part + "\" in: " + text);
        }
    }

    private static void assertIsOwn(StoreFile keyStore) {
        assertEquals(
                OWN.certificate(),
                LoadedTls.read(settings(keyStore)).certificate().orElseThrow());
    }

    @Test
    void keyStoresOfEveryTypeAreRead() {
        assertIsOwn(store(OWN.writePem(file("a.pem")), ""));
        assertIsOwn(store(OWN.writeEncryptedPem(file("b.pem"), PASSWORD), PASSWORD));
        assertIsOwn(store(OWN.writeStore(file("c.p12"), "PKCS12", PASSWORD), PASSWORD));
        assertIsOwn(store(OWN.writeStore(file("d.pfx"), "PKCS12", PASSWORD), PASSWORD));
        assertIsOwn(store(OWN.writeStore(file("e.jks"), "JKS", PASSWORD), PASSWORD));
        assertIsOwn(new StoreFile("k", OWN.writePem(file("no-ending")), StoreType.PEM, StorePassword.none()));
    }

    @Test
    void passwordIsReadFromAFile() throws IOException {
        Path password = Files.writeString(file("password"), PASSWORD + "\n");
        Path keys = OWN.writeStore(file("c.p12"), "PKCS12", PASSWORD);
        assertIsOwn(StoreFile.of("k", keys, StorePassword.inFile(password)));
        assertHas(
                refusal(StoreFile.of("k", keys, StorePassword.inFile(file("none")))),
                file("none").toString(),
                "there is no such file");
    }

    @Test
    void wrongOrMissingPasswordIsTold() {
        Path p12 = OWN.writeStore(file("c.p12"), "PKCS12", PASSWORD);
        assertHas(refusal(store(p12, "wrong one")), "ssl.keyStore.location", p12.toString(), "password is wrong");
        Path jks = OWN.writeStore(file("e.jks"), "JKS", PASSWORD);
        assertHas(refusal(store(jks, "wrong one")), jks.toString(), "password is wrong");
        Path pem = OWN.writeEncryptedPem(file("b.pem"), PASSWORD);
        assertHas(refusal(store(pem, "")), "encrypted, and no password is set");
        assertHas(refusal(store(pem, "wrong one")), pem.toString(), "private key");
    }

    @Test
    void keyOfAnotherCertificateIsTold() throws IOException {
        Path mixed = file("mixed.pem");
        Files.writeString(
                mixed,
                Files.readString(OWN.writeChain(file("chain.pem")))
                        + Files.readString(AUTHORITY.issue("CN=other").writeKey(file("key.pem"))));
        assertHas(refusal(store(mixed, "")), "does not match the certificate CN=own,O=example");
    }

    @Test
    void whatIsMissingIsTold() throws IOException {
        assertHas(refusal(store(file("none.pem"), "")), "none.pem", "there is no such file");
        assertHas(refusal(store(OWN.writeChain(file("chain.pem")), "")), "no private key");
        assertHas(refusal(store(OWN.writeKey(file("key.pem")), "")), "no certificate");
        assertHas(refusal(store(Files.writeString(file("empty.pem"), ""), "")), "no PEM file");
        assertHas(
                refusal(store(AUTHORITY.writeStore(file("trust.p12"), "PKCS12", PASSWORD), PASSWORD)),
                "no private key",
                "authority");
        assertHas(refusal(store(Files.writeString(file("text.p12"), "hello"), PASSWORD)), "no store of type PKCS12");
    }

    @Test
    void unknownTypeIsTold() {
        assertHas(message(() -> store(file("keys.txt"), "")), "keys.txt", "JKS, PKCS12 or PEM");
    }

    @Test
    void olderFormOfAKeyIsToldWithTheCommandThatConvertsIt() throws IOException {
        Path old = file("old.pem");
        Files.writeString(old, Files.readString(OWN.writePem(file("a.pem"))).replace("PRIVATE KEY", "EC PRIVATE KEY"));
        assertHas(refusal(store(old, "")), "PKCS#8", "openssl pkcs8");
    }

    @Test
    void trustStoreWithoutAuthoritiesIsTold() {
        StoreFile trust = StoreFile.of(
                "ssl.trustStore.location",
                OWN.writeStore(file("c.p12"), "PKCS12", PASSWORD),
                StorePassword.of(PASSWORD));
        assertHas(
                message(() -> TlsContext.forClient(
                        TlsSettings.builder("ssl.").trustStore(trust).build(), Runnable::run)),
                "ssl.trustStore.location",
                "c.p12",
                "no trusted certificate",
                "own");
    }

    @Test
    void serverThatAsksForCertificatesNeedsATrustStore() {
        StoreFile keys = store(OWN.writePem(file("a.pem")), "");
        assertHas(
                message(() -> TlsContext.forServer(
                        TlsSettings.builder("ssl.").keyStore(keys).build(), Runnable::run)),
                "ssl.trustStore.location is not set",
                "ssl.clientAuth=none");
        assertHas(
                message(() -> TlsContext.forServer(TlsSettings.builder("ssl.").build(), Runnable::run)),
                "ssl.keyStore.location is not set");
    }

    @Test
    void unknownProtocolsAndCipherSuitesAreTold() {
        assertHas(
                message(() -> TlsContext.forClient(
                        TlsSettings.builder("ssl.").protocols(List.of("TLSv9")).build(), Runnable::run)),
                "ssl.enabledProtocols",
                "TLSv9");
        assertHas(
                message(() -> TlsContext.forClient(
                        TlsSettings.builder("ssl.")
                                .cipherSuites(List.of("TLS_NONE"))
                                .build(),
                        Runnable::run)),
                "ssl.ciphersuites",
                "TLS_NONE");
    }

    @Test
    void noTextHasAPassword() {
        TlsSettings settings = TlsSettings.builder("ssl.")
                .keyStore(store(file("c.p12"), PASSWORD))
                .build();
        assertFalse(settings.toString().contains(PASSWORD), settings::toString);
        assertHas(settings.toString(), "c.p12");
    }
}
