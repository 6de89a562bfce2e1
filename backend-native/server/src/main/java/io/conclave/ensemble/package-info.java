/**
 * Several servers that make an ensemble, for tests, in one JVM or as processes: they can be killed, restarted, paused and cut
 * off from each other.
 */
@NullMarked
package io.conclave.ensemble;

import org.jspecify.annotations.NullMarked;
