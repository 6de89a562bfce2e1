/**
 * The one place that reads clocks and waits.
 */
@NullMarked
package io.conclave.time;

import org.jspecify.annotations.NullMarked;
