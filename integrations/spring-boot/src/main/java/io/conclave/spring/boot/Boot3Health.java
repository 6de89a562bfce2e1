package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.health.CompositeHealthContributorConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The health of coordinators in Spring Boot 3; {@link Boot4Health} is the same in the packages of Spring Boot 4. */
@AutoConfiguration(
        after = ConclaveAutoConfiguration.class,
        beforeName = "org.springframework.boot.actuate.autoconfigure.health.HealthContributorAutoConfiguration")
@ConditionalOnClass(
        name = {
            "io.conclave.coordinator.Coordinator",
            "org.springframework.boot.actuate.health.AbstractHealthIndicator",
            "org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator"
        })
final class Boot3Health {
    /** Loaded in Spring Boot 3 only. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(Coordinator.class)
    @ConditionalOnEnabledHealthIndicator("conclave")
    static class Contributor extends CompositeHealthContributorConfiguration<Indicator, Coordinator> {
        Contributor() {
            super(Indicator::new);
        }

        @Bean
        @ConditionalOnMissingBean(name = {"conclaveHealthIndicator", "conclaveHealthContributor"})
        HealthContributor conclaveHealthContributor(ConfigurableListableBeanFactory beans) {
            return createContributor(beans, Coordinator.class);
        }
    }

    /** Up while connected. Never blocks. */
    static final class Indicator extends AbstractHealthIndicator {
        private final Coordinator coordinator;

        Indicator(Coordinator coordinator) {
            this.coordinator = coordinator;
        }

        @Override
        protected void doHealthCheck(Health.Builder builder) {
            CoordinatorStatus status = CoordinatorStatus.of(coordinator);
            builder.up().withDetail("session", status.state().name());
            status.reason().ifPresent(reason -> builder.down().withDetail("reason", reason));
        }
    }
}
