/**
 * Meters and observations of locks, elections and the other recipes, for Micrometer. {@link
 * io.conclave.micrometer.ConclaveMetrics} counts and times; {@link io.conclave.micrometer.CoordinatorMetrics} shows the
 * state of the session; {@link io.conclave.micrometer.ConclaveObservations} makes spans.
 */
@NullMarked
package io.conclave.micrometer;

import org.jspecify.annotations.NullMarked;
