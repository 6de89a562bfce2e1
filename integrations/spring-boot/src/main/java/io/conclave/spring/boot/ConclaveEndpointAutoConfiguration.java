package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The actuator's endpoint {@code conclave}, where it is exposed. */
@AutoConfiguration(after = {ConclaveAutoConfiguration.class, LeaderElectionAutoConfiguration.class})
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(Coordinator.class)
@ConditionalOnAvailableEndpoint(endpoint = ConclaveEndpoint.class)
public final class ConclaveEndpointAutoConfiguration {
    ConclaveEndpointAutoConfiguration() {}

    @Bean
    ConclaveActivity conclaveActivity() {
        return new ConclaveActivity();
    }

    @Bean
    @ConditionalOnMissingBean
    ConclaveEndpoint conclaveEndpoint(
            Map<String, Coordinator> coordinators,
            ConclaveActivity activity,
            ObjectProvider<LeaderElections> elections) {
        return new ConclaveEndpoint(
                coordinators,
                activity,
                () -> elections.stream().findFirst().map(LeaderElections::all).orElse(List.of()));
    }
}
