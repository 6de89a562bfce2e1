package io.conclave.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * How observations of waits and holds are tagged; an application may give its own, or extend the default. Unless it has
 * a name, that of {@link ConclaveObservationDocumentation} stays.
 */
public interface ConclaveObservationConvention extends ObservationConvention<ConclaveObservationContext> {
    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof ConclaveObservationContext;
    }
}
