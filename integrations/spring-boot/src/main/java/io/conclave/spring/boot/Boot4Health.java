package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.CompositeHealthContributorConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The health of coordinators in Spring Boot 4; {@link Boot3Health} is the same in the packages of Spring Boot 3. */
@AutoConfiguration(
        after = ConclaveAutoConfiguration.class,
        beforeName = "org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration")
@ConditionalOnClass(
        name = {
            "io.conclave.coordinator.Coordinator",
            "org.springframework.boot.health.contributor.AbstractHealthIndicator",
            "org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator"
        })
final class Boot4Health {
    /** Loaded in Spring Boot 4 only. */
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
