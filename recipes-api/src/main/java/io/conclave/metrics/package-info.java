/**
 * The hook through which counts and durations leave the library; no metrics library is imposed.
 */
@NullMarked
package io.conclave.metrics;

import org.jspecify.annotations.NullMarked;
