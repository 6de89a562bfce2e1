package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.micrometer.ConclaveMetrics;
import io.conclave.micrometer.ConclaveObservations;
import io.conclave.micrometer.CoordinatorMetrics;
import io.conclave.micrometer.PathNames;
import io.conclave.session.SessionState;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class ConclaveMetricsAutoConfigurationTest {
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("conclave.connect-string=memory:")
            .withConfiguration(
                    AutoConfigurations.of(ConclaveAutoConfiguration.class, ConclaveMetricsAutoConfiguration.class))
            .withConfiguration(BootVersion.autoConfigurations(
                    "org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration",
                    "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
                    "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
                    "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"));

    @Test
    void metersAreBoundToTheRegistryOfTheApplication() {
        runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(PathNames.class, () -> PathNames.of(path -> "all-of-" + path.substring(1)))
                .run(context -> {
                    Coordinator coordinator = context.getBean(Coordinator.class);
                    await().until(() -> coordinator.state() == SessionState.CONNECTED);
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    assertThat(registry.get("conclave.session.state")
                                    .tag("state", "connected")
                                    .gauge()
                                    .value())
                            .isEqualTo(1);
                    context.getBean(ConclaveMetrics.class).count("lock.lost", "/orders");
                    assertThat(registry.get("conclave.lock.lost")
                                    .tag("name", "all-of-orders")
                                    .functionCounter()
                                    .count())
                            .isEqualTo(1);
                });
    }

    @Test
    void hooksAreGivenToTheCoordinator() {
        runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new).run(context -> {
            assertThat(context).hasSingleBean(ConclaveObservations.class).hasSingleBean(ObservationRegistry.class);
            Coordinator coordinator = context.getBean(Coordinator.class);
            await().until(() -> coordinator.state() == SessionState.CONNECTED);
            coordinator.close();
            assertThat(context.getBean(MeterRegistry.class)
                            .get("conclave.session.state")
                            .tag("state", "closed")
                            .gauge()
                            .value())
                    .isEqualTo(1);
        });
    }

    @Test
    void withoutMicrometerThereIsTheCoordinatorOnly() {
        runner.withClassLoader(new FilteredClassLoader(MeterRegistry.class)).run(context -> assertThat(context)
                .hasNotFailed()
                .hasSingleBean(Coordinator.class)
                .doesNotHaveBean("conclaveMetrics"));
    }

    @Test
    void withoutCoordinatorThereAreNoMeters() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(ConclaveAutoConfiguration.class, ConclaveMetricsAutoConfiguration.class))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(ConclaveMetrics.class)
                        .doesNotHaveBean(CoordinatorMetrics.class));
    }
}
