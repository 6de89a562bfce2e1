/**
 * One runnable program for each recipe; {@code examples/run} starts them.
 */
@NullMarked
package io.conclave.examples;

import org.jspecify.annotations.NullMarked;
