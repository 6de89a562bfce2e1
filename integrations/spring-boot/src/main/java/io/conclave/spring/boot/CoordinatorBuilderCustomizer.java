package io.conclave.spring.boot;

import io.conclave.coordinator.CoordinatorBuilder;

/** Sets what no property sets. All beans of this type are called in order, after the properties have been applied. */
@FunctionalInterface
public interface CoordinatorBuilderCustomizer {
    /** Changes the builder, which must not be kept. */
    void customize(CoordinatorBuilder builder);
}
