package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConnectException;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.session.SessionState;
import io.conclave.testkit.memory.MemoryStore;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Enumeration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.support.SpringFactoriesLoader;

class ConclaveAutoConfigurationTest {
    /** Nobody listens there. */
    private static final String NO_SERVER = "conclave.connect-string=conclave://127.0.0.1:1";

    private final String store = UUID.randomUUID().toString();
    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(ConclaveAutoConfiguration.class));

    @AfterEach
    void forgetStore() {
        MemoryStore.forget(store);
    }

    private String memory() {
        return "conclave.connect-string=memory:" + store;
    }

    @Test
    void withoutConnectStringNothingIsConfigured() {
        runner.run(context -> assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(Coordinator.class)
                .doesNotHaveBean(ConclaveConnectionDetails.class));
    }

    @Test
    void coordinatorIsMadeFromPropertiesAndClosedWithTheApplication() {
        AtomicReference<Coordinator> seen = new AtomicReference<>();
        runner.withPropertyValues(memory(), "conclave.namespace=/app", "conclave.connect-timeout=20s")
                .run(context -> {
                    Coordinator coordinator = context.getBean(Coordinator.class);
                    seen.set(coordinator);
                    assertThat(coordinator.state()).isEqualTo(SessionState.CONNECTED);
                    coordinator.execute(Create.of(NodePath.of("/a")));
                    try (Coordinator other = Coordinator.connect("memory:" + store)) {
                        assertThat(other.execute(Exists.of(NodePath.of("/app/a"))))
                                .isPresent();
                    }
                });
        assertThat(seen.get().state()).isEqualTo(SessionState.CLOSED);
    }

    @Test
    void applicationStartsWhileTheServersAreDown() {
        runner.withPropertyValues(NO_SERVER)
                .run(context ->
                        assertThat(context.getBean(Coordinator.class).state()).isEqualTo(SessionState.CONNECTING));
    }

    @Test
    void startFailsWithoutConnectionIfTheApplicationWantsOne() {
        runner.withPropertyValues(NO_SERVER, "conclave.connect-timeout=50ms").run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = new ConnectFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getCause()).isInstanceOf(ConnectException.class);
            assertThat(analysis.getDescription()).contains("conclave://127.0.0.1:1");
            assertThat(analysis.getAction()).contains("conclave.connect-timeout");
        });
    }

    @Test
    void connectionDetailsOfTheApplicationBeatTheProperty() {
        runner.withPropertyValues(NO_SERVER, "conclave.connect-timeout=20s")
                .withBean(ConclaveConnectionDetails.class, () -> () -> "memory:" + store)
                .run(context -> {
                    assertThat(context).hasSingleBean(ConclaveConnectionDetails.class);
                    assertThat(context.getBean(Coordinator.class).state()).isEqualTo(SessionState.CONNECTED);
                });
    }

    @Test
    void coordinatorOfTheApplicationIsKept() {
        runner.withPropertyValues(NO_SERVER)
                .withBean("mine", Coordinator.class, () -> Coordinator.start("memory:" + store))
                .run(context ->
                        assertThat(context).hasSingleBean(Coordinator.class).hasBean("mine"));
    }

    @Test
    void customizerComesAfterTheProperties() {
        runner.withPropertyValues(memory(), "conclave.namespace=/app")
                .withBean(CoordinatorBuilderCustomizer.class, () -> builder -> builder.namespace("/other"))
                .run(context -> {
                    context.getBean(Coordinator.class).execute(Create.of(NodePath.of("/a")));
                    try (Coordinator other = Coordinator.connect("memory:" + store)) {
                        assertThat(other.execute(Exists.of(NodePath.of("/other/a"))))
                                .isPresent();
                    }
                });
    }

    @Test
    void invalidValueIsReportedWithItsKeyAndTheRule() {
        assertInvalid("conclave.session-timeout", "1ms", "must be from");
        assertInvalid("conclave.namespace", "no-slash", "must start with '/'");
        assertInvalid("conclave.max-queued-requests", "0", "must be positive");
        assertInvalid("conclave.digest.username", "ann", "set conclave.digest.password");
    }

    private void assertInvalid(String key, String value, String rule) {
        runner.withPropertyValues(memory(), key + "=" + value).run(context -> {
            assertThat(context).hasFailed();
            assertThat(invalid(context.getStartupFailure()).getName()).isEqualTo(key);
            assertThat(invalid(context.getStartupFailure()).getReason()).contains(rule);
        });
    }

    @Test
    void identityOrStoreThatWouldNotCountIsReportedWithWhatIsMissing() {
        assertDoesNotCount("conclave.digest.password=secret", "conclave.digest.username");
        assertDoesNotCount("conclave.sasl.password=secret", "conclave.sasl.username");
        assertDoesNotCount("conclave.tls.trust-store=/certs/ca.pem", "conclave.tls.enabled");
        assertDoesNotCount("conclave.tls.key-store=/certs/me.pem", "conclave.tls.enabled");
        runner.withPropertyValues(
                        "conclave.connect-string=memory:" + store,
                        "conclave.tls.trust-store=/certs/ca.pem",
                        "conclave.tls.enabled=false")
                .run(context -> assertThat(context).hasNotFailed());
    }

    private void assertDoesNotCount(String property, String needed) {
        runner.withPropertyValues(NO_SERVER, property).run(context -> {
            assertThat(context).hasFailed();
            InvalidConfigurationPropertyValueException invalid = invalid(context.getStartupFailure());
            assertThat(invalid.getName()).isEqualTo(needed);
            String[] parts = property.split("=", -1);
            assertThat(invalid).hasMessageContaining(parts[0]);
            assertThat(invalid.getMessage()).doesNotContain(parts[1]);
        });
    }

    @Test
    void schemeWithoutBackendIsReportedAtTheConnectString() {
        runner.withPropertyValues("conclave.connect-string=nowhere:").run(context -> {
            assertThat(context).hasFailed();
            assertThat(invalid(context.getStartupFailure()).getName()).isEqualTo("conclave.connect-string");
            assertThat(invalid(context.getStartupFailure()).getReason()).contains("no backend for the scheme");
        });
    }

    private static InvalidConfigurationPropertyValueException invalid(Throwable failure) {
        Throwable cause = failure;
        while (!(cause instanceof InvalidConfigurationPropertyValueException) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        assertThat(cause).isInstanceOf(InvalidConfigurationPropertyValueException.class);
        return (InvalidConfigurationPropertyValueException) cause;
    }

    @Test
    void beanThatNeedsACoordinatorFailsTheStartAndSaysWhatToSet() {
        runner.withUserConfiguration(NeedsCoordinator.class).run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = new MissingCoordinatorFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription()).contains("job").contains("conclave.connect-string is not set");
            assertThat(analysis.getAction()).contains("conclave.connect-string");
        });
        runner.withUserConfiguration(NeedsSomethingElse.class).run(context -> {
            assertThat(context).hasFailed();
            assertThat(new MissingCoordinatorFailureAnalyzer().analyze(context.getStartupFailure()))
                    .isNull();
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class NeedsCoordinator {
        @Bean
        String job(Coordinator coordinator) {
            return coordinator.toString();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NeedsSomethingElse {
        @Bean
        String job(Thread thread) {
            return thread.toString();
        }
    }

    @Test
    void bootFindsTheAnalyzers() {
        assertThat(SpringFactoriesLoader.forDefaultResourceLocation()
                        .load(FailureAnalyzer.class, (type, name, failure) -> {}))
                .hasAtLeastOneElementOfType(ConnectFailureAnalyzer.class)
                .hasAtLeastOneElementOfType(MissingCoordinatorFailureAnalyzer.class);
    }

    @Test
    void propertiesHaveMetadata() throws Exception {
        // other jars have a file of that name, too
        String metadata = "";
        Enumeration<URL> urls = getClass().getClassLoader().getResources("META-INF/spring-configuration-metadata.json");
        while (urls.hasMoreElements()) {
            try (InputStream in = urls.nextElement().openStream()) {
                metadata += new String(in.readAllBytes(), StandardCharsets.UTF_8);
            }
        }
        assertThat(metadata)
                .contains("\"conclave.connect-string\"")
                .contains("There is no default: without it no coordinator is configured")
                .contains("\"conclave.tls.verify-hostnames\"");
    }
}
