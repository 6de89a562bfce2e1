package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.session.Authentication;
import io.conclave.testkit.memory.MemoryStore;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.Environment;

class ConfigImportTest {
    private static final String NO_SERVER = "conclave.connect-string=conclave://127.0.0.1:1";

    private final String store = UUID.randomUUID().toString();
    private final ApplicationContextRunner plain =
            new ApplicationContextRunner().withInitializer(new ConfigDataApplicationContextInitializer());
    private final ApplicationContextRunner runner = plain.withPropertyValues(
            "conclave.connect-string=memory:" + store,
            "conclave.connect-timeout=1m",
            "spring.application.name=billing");

    @AfterEach
    void forgetStore() {
        MemoryStore.forget(store);
    }

    private void write(String path, String value) {
        write(path, value.getBytes(StandardCharsets.UTF_8));
    }

    private void write(String path, byte[] value) {
        try (Coordinator coordinator = Coordinator.connect("memory:" + store)) {
            StringBuilder made = new StringBuilder();
            for (String name : path.substring(1).split("/", -1)) {
                NodePath next = NodePath.of(made.append('/').append(name).toString());
                boolean isLast = next.toString().equals(path);
                if (isLast || !MemoryStore.named(store).snapshot().containsKey(next)) {
                    coordinator.execute(isLast ? Create.of(next).withData(value) : Create.of(next));
                }
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void ownTreeComesBeforeTheSharedOneAndProfilesComeFirst() {
        write("/config/application/a", "shared");
        write("/config/application/b", "shared");
        write("/config/application/c", "shared");
        write("/config/application/d/e", "shared");
        write("/config/billing/b", "own");
        write("/config/billing/c", "own");
        write("/config/application,dev/c", "shared dev");
        write("/config/application,dev/f", "shared dev");
        write("/config/billing,dev/f", "own dev");
        write("/config/billing,live/a", "of another profile");
        runner.withPropertyValues("spring.config.import=conclave:", "spring.profiles.active=dev")
                .run(context -> {
                    Environment environment = context.getEnvironment();
                    assertThat(environment.getProperty("a")).isEqualTo("shared");
                    assertThat(environment.getProperty("b")).isEqualTo("own");
                    assertThat(environment.getProperty("c")).isEqualTo("shared dev");
                    assertThat(environment.getProperty("d.e")).isEqualTo("shared");
                    assertThat(environment.getProperty("f")).isEqualTo("own dev");
                    assertThat(environment.containsProperty("d")).isFalse();
                });
    }

    @Test
    void givenPathIsReadAndTheNamespaceApplies() {
        write("/app/settings/mail/host", "mail.example");
        write("/app/settings/empty", "");
        runner.withPropertyValues("spring.config.import=conclave:/settings", "conclave.namespace=/app")
                .run(context -> {
                    assertThat(context.getEnvironment().getProperty("mail.host"))
                            .isEqualTo("mail.example");
                    assertThat(context.getEnvironment().getProperty("empty")).isEmpty();
                });
    }

    @Test
    void rootGivesWholeKeysAndLeavesOutWhatServersKeep() {
        write("/mail/host", "mail.example");
        write("/zookeeper/config", "server.1=h1:2888:3888");
        write("/zookeepers", "2");
        write("/app/zookeeper/host", "h1");
        runner.withPropertyValues("spring.config.import=conclave:/").run(context -> {
            Environment environment = context.getEnvironment();
            assertThat(environment.getProperty("mail.host")).isEqualTo("mail.example");
            assertThat(environment.getProperty("app.zookeeper.host")).isEqualTo("h1");
            assertThat(environment.getProperty("zookeepers")).isEqualTo("2");
            assertThat(environment.containsProperty("zookeeper.config")).isFalse();
        });
        runner.withPropertyValues("spring.config.import=conclave:/", "conclave.namespace=/app")
                .run(context -> assertThat(context.getEnvironment().getProperty("zookeeper.host"))
                        .isEqualTo("h1"));
    }

    @Test
    void treeThatIsNotThereIsEmpty() {
        runner.withPropertyValues("spring.config.import=conclave:")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void startFailsWithTheLocationAndTheRuleWhileTheServersAreDown() {
        assertRefused(
                plain.withPropertyValues(NO_SERVER, "conclave.connect-timeout=50ms"),
                "conclave:",
                "Cannot import \"conclave:\": ",
                "write optional:conclave:");
        assertRefused(plain, "conclave:/a", "Cannot import \"conclave:/a\": ", "conclave.connect-string");
        assertRefused(runner, "conclave:a", "Cannot import \"conclave:a\": ", "or conclave:/path");
        write("/config/billing/bytes", new byte[] {(byte) 0xff});
        assertRefused(runner, "conclave:", "/config/billing/bytes: its data are not UTF-8", "as text in UTF-8");
    }

    private static void assertRefused(
            ApplicationContextRunner refused, String location, String description, String action) {
        assertThatExceptionOfType(ConfigImportException.class)
                .isThrownBy(() -> refused.withPropertyValues("spring.config.import=" + location)
                        .run(context -> {
                            if (context.getStartupFailure() != null) {
                                throw context.getStartupFailure();
                            }
                        }))
                .withMessageContaining(description)
                .satisfies(e -> assertThat(
                                new ConfigImportFailureAnalyzer().analyze(e).getAction())
                        .contains(action));
    }

    @Test
    void optionalImportIsLeftOutWhileTheServersAreDown() {
        plain.withPropertyValues(
                        NO_SERVER, "conclave.connect-timeout=50ms", "spring.config.import=optional:conclave:", "a=here")
                .run(context ->
                        assertThat(context.getEnvironment().getProperty("a")).isEqualTo("here"));
        plain.withPropertyValues("spring.config.import=optional:conclave:")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void treeOfWhichAPartMayNotBeReadIsNotImported() throws InterruptedException {
        write("/config/billing/host", "mail.example");
        write("/config/application/port", "25");
        try (Coordinator owner = Coordinator.builder("memory:" + store)
                .authentication(Authentication.digest("bob", "secret"))
                .connect()) {
            owner.execute(Create.of(NodePath.of("/config/billing/password"))
                    .withData("secret".getBytes(StandardCharsets.UTF_8))
                    .withAcl(Acl.CREATOR_ONLY));
        }
        assertRefused(
                runner,
                "conclave:",
                "Cannot import \"conclave:\": The znode /config/billing/password may not be read: ",
                "Allow the user of conclave.digest or conclave.sasl to read");
        runner.withPropertyValues("spring.config.import=optional:conclave:").run(context -> {
            Environment environment = context.getEnvironment();
            assertThat(environment.containsProperty("host")).isFalse();
            assertThat(environment.getProperty("port")).isEqualTo("25");
        });
        runner.withPropertyValues(
                        "spring.config.import=conclave:",
                        "conclave.digest.username=bob",
                        "conclave.digest.password=secret")
                .run(context -> assertThat(context.getEnvironment().getProperty("password"))
                        .isEqualTo("secret"));
    }
}
