package io.conclave.spring.cloud;

import io.conclave.coordinator.Coordinator;
import io.conclave.discovery.ServiceDiscovery;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.cloud.client.ConditionalOnBlockingDiscoveryEnabled;
import org.springframework.cloud.client.ConditionalOnDiscoveryEnabled;
import org.springframework.cloud.client.ConditionalOnDiscoveryHealthIndicatorEnabled;
import org.springframework.cloud.client.ConditionalOnReactiveDiscoveryEnabled;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.health.DiscoveryClientHealthIndicatorProperties;
import org.springframework.cloud.client.discovery.health.reactive.ReactiveDiscoveryClientHealthIndicator;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/** Discovery clients, blocking and reactive, if there is one coordinator, or one that is {@code @Primary}. */
@AutoConfiguration(
        afterName = "io.conclave.spring.boot.ConclaveAutoConfiguration",
        beforeName = {
            "org.springframework.cloud.client.CommonsClientAutoConfiguration",
            "org.springframework.cloud.client.ReactiveCommonsClientAutoConfiguration",
            "org.springframework.cloud.client.discovery.simple.SimpleDiscoveryClientAutoConfiguration",
            "org.springframework.cloud.client.discovery.simple.reactive.SimpleReactiveDiscoveryClientAutoConfiguration"
        })
@ConditionalOnClass({Coordinator.class, DiscoveryClient.class})
@ConditionalOnSingleCandidate(Coordinator.class)
@ConditionalOnDiscoveryEnabled
@ConditionalOnProperty(value = "conclave.discovery.enabled", matchIfMissing = true)
@EnableConfigurationProperties(ConclaveDiscoveryProperties.class)
public final class ConclaveDiscoveryAutoConfiguration {
    ConclaveDiscoveryAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    ServiceDiscovery conclaveServiceDiscovery(Coordinator coordinator, ConclaveDiscoveryProperties properties) {
        return ServiceDiscovery.at(coordinator, properties.getRoot());
    }

    @Bean
    KnownServices conclaveKnownServices(Coordinator coordinator, ServiceDiscovery discovery) {
        return new KnownServices(coordinator, discovery);
    }

    @Bean
    ServiceHeartbeat conclaveServiceHeartbeat(
            Coordinator coordinator, KnownServices services, ApplicationEventPublisher events) {
        return new ServiceHeartbeat(coordinator, services, events);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBlockingDiscoveryEnabled
    static final class Blocking {
        @Bean
        @ConditionalOnMissingBean
        ConclaveDiscoveryClient conclaveDiscoveryClient(
                Coordinator coordinator, KnownServices services, ConclaveDiscoveryProperties properties) {
            return new ConclaveDiscoveryClient(coordinator, services, properties);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "reactor.core.publisher.Flux")
    @ConditionalOnReactiveDiscoveryEnabled
    static final class Reactive {
        @Bean
        @ConditionalOnMissingBean
        ConclaveReactiveDiscoveryClient conclaveReactiveDiscoveryClient(
                KnownServices services, ConclaveDiscoveryProperties properties) {
            return new ConclaveReactiveDiscoveryClient(services, properties);
        }

        @Configuration(proxyBeanMethods = false)
        @Conditional(HealthIsThere.class)
        static final class ReactiveHealth {
            @Bean
            @ConditionalOnDiscoveryHealthIndicatorEnabled
            ReactiveDiscoveryClientHealthIndicator conclaveReactiveDiscoveryHealthIndicator(
                    ConclaveReactiveDiscoveryClient client, DiscoveryClientHealthIndicatorProperties properties) {
                return new ReactiveDiscoveryClientHealthIndicator(client, properties);
            }
        }
    }

    /** The actuator's type for health, which each Boot line has in another package. */
    static final class HealthIsThere extends AnyNestedCondition {
        HealthIsThere() {
            super(ConfigurationPhase.PARSE_CONFIGURATION);
        }

        @ConditionalOnClass(name = "org.springframework.boot.actuate.health.ReactiveHealthIndicator")
        static final class InBoot3 {}

        @ConditionalOnClass(name = "org.springframework.boot.health.contributor.ReactiveHealthIndicator")
        static final class InBoot4 {}
    }
}
