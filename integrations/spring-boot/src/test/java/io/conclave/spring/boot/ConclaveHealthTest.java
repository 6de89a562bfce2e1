package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.session.SessionState;
import io.conclave.testkit.memory.MemoryStore;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class ConclaveHealthTest {
    private static final String BEAN = "conclaveHealthContributor";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(ConclaveAutoConfiguration.class, Boot3Health.class, Boot4Health.class));

    @Test
    void healthIsUpWhileConnected() {
        String store = UUID.randomUUID().toString();
        runner.withPropertyValues("conclave.connect-string=memory:" + store, "conclave.session-timeout=10m")
                .run(context -> {
                    Coordinator coordinator = context.getBean(Coordinator.class);
                    await().until(() -> coordinator.state() == SessionState.CONNECTED);
                    BootVersion.Health up = BootVersion.healthOf(context.getBean(BEAN));
                    assertThat(up.status()).isEqualTo("UP");
                    assertThat(up.details()).hasSize(1).hasFieldOrPropertyWithValue("session", "CONNECTED");
                    MemoryStore.named(store).faults().suspendAll();
                    await().until(() -> coordinator.state() == SessionState.SUSPENDED);
                    BootVersion.Health down = BootVersion.healthOf(context.getBean(BEAN));
                    assertThat(down.status()).isEqualTo("DOWN");
                    assertThat(down.details()).hasFieldOrPropertyWithValue("session", "SUSPENDED");
                    assertThat(down.details().get("reason").toString()).contains("The connection was lost");
                    coordinator.close();
                    assertThat(BootVersion.healthOf(context.getBean(BEAN))
                                    .details()
                                    .get("reason"))
                            .isEqualTo("The coordinator was closed");
                });
        MemoryStore.forget(store);
    }

    @Test
    void healthSaysWhyThereIsNoConnection() {
        runner.withPropertyValues("conclave.connect-string=conclave://127.0.0.1:1")
                .run(context -> {
                    await().until(() -> BootVersion.healthOf(context.getBean(BEAN))
                            .details()
                            .get("reason")
                            .toString()
                            .contains("The last attempt to connect failed"));
                    BootVersion.Health down = BootVersion.healthOf(context.getBean(BEAN));
                    assertThat(down.status()).isEqualTo("DOWN");
                    assertThat(down.details()).hasFieldOrPropertyWithValue("session", "CONNECTING");
                    assertThat(down.details().get("reason").toString()).contains("127.0.0.1:1");
                });
    }

    @Test
    void healthCanBeSwitchedOff() {
        runner.withPropertyValues("conclave.connect-string=memory:", "management.health.conclave.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(BEAN));
    }

    @Test
    void thereIsNoHealthWithoutACoordinator() {
        runner.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(BEAN));
    }
}
