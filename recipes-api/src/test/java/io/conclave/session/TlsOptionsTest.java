package io.conclave.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS options, from calls and from ZooKeeper's keys. */
class TlsOptionsTest {
    @TempDir
    private Path directory;

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("client.properties"), text);
    }

    private String refusal(String text) throws IOException {
        Path file = file(text);
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> TlsOptions.fromFile(file))
                .getMessage());
        assertTrue(message.contains(file.toString()), message);
        return message;
    }

    @Test
    void callsAndAFileSayTheSame() throws IOException {
        TlsOptions called = TlsOptions.trusting(Path.of("/other.pem"))
                .trustStore(Path.of("/trust.jks"), "first")
                .keyStore(Path.of("/own.p12"), "second")
                .verifyHostnames(false);
        TlsOptions read = TlsOptions.fromFile(file("""
                zookeeper.client.secure=true
                zookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty
                zookeeper.ssl.trustStore.location=/trust.jks
                zookeeper.ssl.trustStore.password=first
                ssl.keyStore.location=/own.p12
                ssl.keyStore.password=second
                ssl.hostnameVerification=FALSE
                ssl.clientAuth=need
                ssl.quorum.keyStore.location=/members.pem
                jute.maxbuffer=1
                """));
        assertEquals(
                Map.of(
                        "ssl.trustStore.location", "/trust.jks",
                        "ssl.trustStore.password", "first",
                        "ssl.keyStore.location", "/own.p12",
                        "ssl.keyStore.password", "second",
                        "ssl.hostnameVerification", "false"),
                called.properties());
        assertEquals(called.properties().keySet(), read.properties().keySet());
        assertEquals("FALSE", read.properties().get("ssl.hostnameVerification"));
    }

    @Test
    void aStoreThatIsReplacedLeavesNothingOfTheOneBefore() {
        TlsOptions options =
                TlsOptions.defaults().keyStore(Path.of("/a.p12"), "secret").keyStore(Path.of("/b.pem"));
        assertEquals(Map.of("ssl.keyStore.location", "/b.pem"), options.properties());
        assertEquals(Map.of(), TlsOptions.defaults().properties());
    }

    @Test
    void linesThatBreakARuleAreNamed() throws IOException {
        assertTrue(refusal("ssl.hostnameVerificaton=false\n")
                .contains("key ssl.hostnameVerificaton: it is unknown, or not supported"));
        assertTrue(refusal("zookeeper.ssl.crl=yes\n")
                .contains("key zookeeper.ssl.crl: \"yes\" is neither true nor false"));
        assertTrue(refusal("ssl.keyStore.location=\n").contains("key ssl.keyStore.location: it has no value"));
        assertTrue(refusal("zookeeper.client.secure=false\n").contains("key zookeeper.client.secure: it is not true"));
        assertTrue(refusal("ssl.crl=true\nzookeeper.ssl.crl=false\n").contains("the values differ"));
        assertTrue(refusal("ssl.crl=\\u12\n").contains("client.properties"));
        assertThrows(NoSuchFileException.class, () -> TlsOptions.fromFile(directory.resolve("none")));
    }

    @Test
    void noTextHasAPassword() throws IOException {
        Properties properties = new Properties();
        properties.setProperty("zookeeper.ssl.keyStore.password", "hidden");
        TlsOptions options = TlsOptions.fromProperties(properties);
        assertEquals("TlsOptions[ssl.keyStore.password]", options.toString());
        assertFalse(refusal("ssl.keyStore.password=hidden\nzookeeper.ssl.keyStore.password=other\n")
                .contains("hidden"));
    }
}
