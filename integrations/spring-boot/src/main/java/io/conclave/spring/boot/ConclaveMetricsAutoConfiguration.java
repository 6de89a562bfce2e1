package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.micrometer.ConclaveMetrics;
import io.conclave.micrometer.ConclaveObservationConvention;
import io.conclave.micrometer.ConclaveObservations;
import io.conclave.micrometer.CoordinatorMetrics;
import io.conclave.micrometer.PathNames;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * Meters and observations of the coordinator, where {@code conclave-micrometer} and Micrometer are. A bean of {@link
 * PathNames} says what paths are called in tags; without one they are all called {@value PathNames#OTHER}.
 */
@AutoConfiguration(
        after = ConclaveAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@ConditionalOnClass({ConclaveMetrics.class, MeterRegistry.class})
@ConditionalOnBean(Coordinator.class)
public final class ConclaveMetricsAutoConfiguration {
    ConclaveMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    ConclaveMetrics conclaveMetrics(ObjectProvider<PathNames> names) {
        return new ConclaveMetrics(names.getIfAvailable(PathNames::allAlike));
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnSingleCandidate(Coordinator.class)
    CoordinatorMetrics conclaveCoordinatorMetrics(Coordinator coordinator) {
        return new CoordinatorMetrics(coordinator);
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(ObservationRegistry.class)
    ConclaveObservations conclaveObservations(
            ObservationRegistry registry,
            ObjectProvider<PathNames> names,
            ObjectProvider<ConclaveObservationConvention> convention) {
        return new ConclaveObservations(
                registry, names.getIfAvailable(PathNames::allAlike), convention.getIfAvailable());
    }
}
