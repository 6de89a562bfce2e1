package io.conclave.spring.cloud;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.discovery.ServiceDiscovery;
import io.conclave.discovery.ServiceInstance;
import io.conclave.discovery.UriSpec;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.cloud.client.serviceregistry.RegistrationLifecycle;
import org.springframework.cloud.commons.util.InetUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A service registry, and the registration of this application when its web server has started. */
@AutoConfiguration(
        after = ConclaveDiscoveryAutoConfiguration.class,
        afterName = "org.springframework.cloud.commons.util.UtilAutoConfiguration",
        beforeName = {
            "org.springframework.cloud.client.serviceregistry.ServiceRegistryAutoConfiguration",
            "org.springframework.cloud.client.serviceregistry.AutoServiceRegistrationAutoConfiguration"
        })
@ConditionalOnBean({ServiceDiscovery.class, ConclaveDiscoveryProperties.class})
public final class ConclaveRegistrationAutoConfiguration {
    ConclaveRegistrationAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    ConclaveServiceRegistry conclaveServiceRegistry(ServiceDiscovery discovery, Coordinator coordinator) {
        return new ConclaveServiceRegistry(
                discovery, RecipeAccess.session(coordinator).time());
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(value = "spring.cloud.service-registry.auto-registration.enabled", matchIfMissing = true)
    @ConditionalOnProperty(value = "conclave.discovery.register", matchIfMissing = true)
    static final class Auto {
        @Bean
        @ConditionalOnMissingBean
        ConclaveRegistration conclaveRegistration(
                ApplicationContext context, ConclaveDiscoveryProperties properties, ObjectProvider<InetUtils> network) {
            String name = context.getEnvironment().getProperty("spring.application.name", "application");
            ServiceInstance.Builder instance = ServiceInstance.named(name)
                    .address(address(properties, network))
                    .uriSpec(UriSpec.of(properties.getUriSpec()));
            if (properties.getInstanceId() != null) {
                instance.id(properties.getInstanceId());
            }
            if (properties.getInstancePort() != null) {
                instance.port(properties.getInstancePort());
            }
            if (properties.getInstanceSslPort() != null) {
                instance.sslPort(properties.getInstanceSslPort());
            }
            Map<String, String> metadata = new LinkedHashMap<>(properties.getMetadata());
            metadata.put(InstancePayload.STATUS, properties.getInitialStatus());
            return new ConclaveRegistration(
                    Objects.requireNonNullElse(context.getId(), name), instance.build(), metadata);
        }

        /** An address that is preferred comes before a host that is set, as with Spring Cloud ZooKeeper. */
        private static String address(ConclaveDiscoveryProperties properties, ObjectProvider<InetUtils> network) {
            boolean isAddress = properties.isPreferIpAddress();
            String configured = isAddress ? properties.getInstanceIpAddress() : properties.getInstanceHost();
            if (configured != null && !configured.isBlank()) {
                return configured;
            }
            InetUtils.HostInfo found = network.getObject().findFirstNonLoopbackHostInfo();
            return isAddress ? found.getIpAddress() : found.getHostname();
        }

        @Bean
        @ConditionalOnMissingBean
        ConclaveAutoRegistration conclaveAutoRegistration(
                ApplicationContext context,
                ConclaveServiceRegistry registry,
                ConclaveRegistration registration,
                ConclaveDiscoveryProperties properties,
                ObjectProvider<RegistrationLifecycle<ConclaveRegistration>> lifecycles) {
            return new ConclaveAutoRegistration(
                    context,
                    registry,
                    registration,
                    properties,
                    lifecycles.orderedStream().toList());
        }
    }
}
