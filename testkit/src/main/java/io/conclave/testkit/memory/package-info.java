/**
 * A backend in memory with the full semantics of the SPI, and the faults that can be injected into it.
 */
@NullMarked
package io.conclave.testkit.memory;

import org.jspecify.annotations.NullMarked;
