package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import io.conclave.connection.DigestHash;
import io.conclave.connection.SuperUser;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.error.ConnectException;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.session.Authentication;
import io.conclave.session.TlsOptions;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.time.TimeSource;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.management.ObjectName;
import javax.security.auth.login.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/** No secret is in a log at its finest level, an exception, a dump of threads, or an answer to a command. */
@Isolated("reads all log lines and threads of the JVM")
@Timeout(300)
class SecretsTest {
    /** In each secret here. */
    private static final String MARKER = "mArK7351";

    private static final String JAAS_FILE = "java.security.auth.login.config";

    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final Logger ours = (Logger) LoggerFactory.getLogger("io.conclave");
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            seen.add(event.getThreadName() + " " + event.getFormattedMessage());
            for (IThrowableProxy cause = event.getThrowableProxy(); cause != null; cause = cause.getCause()) {
                seen.add(cause.getClassName() + ": " + cause.getMessage());
            }
        }
    };

    @TempDir
    private Path home;

    @BeforeEach
    void listen() {
        appender.start();
        ours.addAppender(appender);
        ours.setLevel(Level.TRACE);
        ours.setAdditive(false); // thousands of lines
        JaasSections.set(Map.of(
                "Server", JaasSections.section(JaasSections.DIGEST_MODULE, Map.of("user_bob", "sasl" + MARKER))));
    }

    @AfterEach
    void stopListening() {
        JaasSections.clear();
        ours.setAdditive(true);
        ours.setLevel(null);
        ours.detachAppender(appender);
    }

    private ServerConfig config(String storePassword) throws Exception {
        CertificateAuthority authority = new CertificateAuthority("CN=Authority");
        Path trust = authority.writePem(home.resolve("trust.pem"));
        Path own = authority
                .issue("CN=server", "localhost")
                .writeStore(home.resolve("server.p12"), "PKCS12", "store" + MARKER);
        return ConfigFile.read(Files.write(
                home.resolve("zoo.cfg"),
                List.of(
                        "dataDir=" + home.resolve("data"),
                        "clientPort=0",
                        "clientPortAddress=localhost",
                        "secureClientPort=0",
                        "preAllocSize=64",
                        "4lw.commands.whitelist=*",
                        "audit.enable=true",
                        "DigestAuthenticationProvider.superDigest="
                                + new DigestHash("SHA1")
                                        .idOf("root:super" + MARKER)
                                        .id(),
                        "ssl.clientAuth=none",
                        "ssl.keyStore.location=" + own,
                        "ssl.keyStore.password=" + storePassword,
                        "ssl.trustStore.location=" + trust)));
    }

    /** As Java's properties may be written, and ZooKeeper's configuration is read. */
    @Test
    void noPasswordIsSeenWhereItsLineIsNotOfTheFormThatIsTaken() throws Exception {
        for (String lines : List.of(
                "ssl.keyStore.password: " + MARKER,
                "ssl.quorum.keyStore.password " + MARKER,
                "ssl.keyStore.password: begin=" + MARKER + "=",
                "ssl.keyStore.password=\\\n  " + MARKER,
                "ssl.keyStore.password=\\\n  " + MARKER + "=",
                MARKER,
                "=" + MARKER)) {
            Path file = Files.writeString(home.resolve("zoo.cfg"), "clientPort=0\n" + lines + "\n");
            ConfigException refusal = assertThrows(ConfigException.class, () -> ConfigFile.read(file));
            assertTrue(refusal.getMessage().contains(": line 2: "), refusal.getMessage());
            seeFailure(refusal);
        }
        assertEquals(
                List.of(), seen.stream().filter(text -> text.contains(MARKER)).toList());
    }

    /** Java's own message quotes what it has found in place of something else. */
    @Test
    void noPasswordOfAJaasFileIsSeenThatCannotBeRead() throws Exception {
        ServerConfig config = config("store" + MARKER);
        try (ConclaveServer server = ConclaveServer.start(config, TimeSource.system(), cause -> {})) {
            for (String options : List.of(
                    "required user_bob \"" + MARKER + "\"",
                    MARKER + " user_bob=\"x\"",
                    "required user_bob=\"${" + MARKER + "}\"")) {
                Path file = Files.writeString(
                        home.resolve("jaas.conf"),
                        "Server {\n  " + JaasSections.DIGEST_MODULE + "\n    " + options + ";\n};\n");
                System.setProperty(JAAS_FILE, file.toString());
                Configuration.setConfiguration(null); // the next look reads the file
                ServerStartException refusal = assertThrows(ServerStartException.class, () -> ConclaveServer.start(
                                config("store" + MARKER), TimeSource.system(), cause -> {})
                        .close());
                assertTrue(refusal.getMessage().contains("the JAAS file " + file), refusal.getMessage());
                seeFailure(refusal);
                seeFailure(assertThrows(
                        ConnectException.class,
                        () -> use(client(TestServer.port(server))
                                .connectTimeout(Duration.ofSeconds(1))
                                .authentication(Authentication.saslSection("Server")))));
            }
        } finally {
            System.clearProperty(JAAS_FILE);
        }
        assertEquals(
                List.of(), seen.stream().filter(text -> text.contains(MARKER)).toList());
        assertTrue(seen.stream().anyMatch(text -> text.contains("line 3 breaks its form")), "the line is named");
    }

    private CoordinatorBuilder client(int port) {
        return Coordinator.builder("conclave://localhost:" + port).connectTimeout(Duration.ofMinutes(2));
    }

    private void use(CoordinatorBuilder builder) throws Exception {
        try (Coordinator client = builder.connect()) {
            client.execute(Exists.of(NodePath.of("/a")));
            see(client);
            see(ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "threadPrint",
                            new Object[] {new String[] {"-l"}},
                            new String[] {String[].class.getName()}));
        }
    }

    private void see(Object text) {
        seen.add(String.valueOf(text));
    }

    private void seeFailure(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        see(text);
    }

    @Test
    void noSecretIsSeen() throws Exception {
        ServerConfig config = config("store" + MARKER);
        see(config);
        try (ConclaveServer server = ConclaveServer.start(config, TimeSource.system(), cause -> {})) {
            int port = TestServer.port(server);
            use(client(port)
                    .authentication(Authentication.digest("root", "super" + MARKER))
                    .authentication(Authentication.digest("eve", "other" + MARKER)));
            use(client(port).authentication(Authentication.saslDigestMd5("bob", "sasl" + MARKER)));
            seeFailure(assertThrows(
                    ConnectException.class,
                    () -> use(client(port).authentication(Authentication.saslDigestMd5("bob", "wrong" + MARKER)))));
            use(client(server.secureClientPort().orElseThrow())
                    .tls(TlsOptions.trusting(home.resolve("trust.pem"))
                            .keyStore(home.resolve("server.p12"), "store" + MARKER)));
            TlsOptions wrongStore = TlsOptions.trusting(home.resolve("trust.pem"))
                    .keyStore(home.resolve("server.p12"), "wrong" + MARKER);
            see(wrongStore);
            seeFailure(assertThrows(
                    ConnectException.class,
                    () -> use(client(server.secureClientPort().orElseThrow()).tls(wrongStore))));
            for (String word : List.of("mntr", "conf", "envi", "cons", "dump", "srvr")) {
                see(FourLetterWordsTest.ask(port, word));
            }
        }
        String admin = AdminSecret.read(home.resolve("data"));
        see(new SuperUser(Optional.of(admin), Optional.of(MARKER)));
        seeFailure(assertThrows(RuntimeException.class, () -> ConclaveServer.start(
                        config("wrong" + MARKER), TimeSource.system(), cause -> {})
                .close()));

        assertTrue(seen.stream().anyMatch(text -> text.contains("Full thread dump")), "a dump of threads");
        assertTrue(seen.size() > 30, "log lines");
        String digest = config.superDigest().orElseThrow().split(":")[1];
        for (String secret : List.of(MARKER, admin, digest)) {
            assertEquals(
                    List.of(),
                    seen.stream().filter(text -> text.contains(secret)).toList());
        }
        assertFalse(admin.isEmpty());
    }
}
