package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.metrics.MetricsHook;
import java.util.Objects;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * A coordinator from {@code conclave.connect-string}, or from a bean of {@link ConclaveConnectionDetails}. It starts
 * while the servers are down, unless {@code conclave.connect-timeout} is set, and is closed with the application.
 */
@AutoConfiguration
@ConditionalOnClass(Coordinator.class)
@EnableConfigurationProperties(ConclaveProperties.class)
public final class ConclaveAutoConfiguration {
    ConclaveAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(ConclaveConnectionDetails.class)
    @ConditionalOnProperty("conclave.connect-string")
    ConclaveConnectionDetails conclaveConnectionDetails(ConclaveProperties properties) {
        return () -> Objects.requireNonNull(properties.getConnectString());
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(ConclaveConnectionDetails.class)
    Coordinator conclaveCoordinator(
            ConclaveConnectionDetails details,
            ConclaveProperties properties,
            ObjectProvider<MetricsHook> hooks,
            ObjectProvider<CoordinatorBuilderCustomizer> customizers) {
        CoordinatorBuilder builder = new CoordinatorSettings(properties).builder(details.getConnectString());
        if (!details.canFollowEnsemble()) {
            builder.followEnsemble(false);
        }
        builder.metrics(MetricsHook.of(hooks.orderedStream().toArray(MetricsHook[]::new)));
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        return CoordinatorSettings.checked(
                CoordinatorSettings.CONNECT_STRING,
                details.getConnectString(),
                () -> properties.getConnectTimeout() == null ? builder.start() : builder.connect());
    }
}
