/**
 * The hook through which counts and durations leave the house; no metrics library is imposed.
 */
@NullMarked
package io.conclave.metrics;

import org.jspecify.annotations.NullMarked;
