/** Several servers in one JVM that make an ensemble, for tests: they can be killed, restarted and cut off from each other. */
@NullMarked
package io.conclave.ensemble;

import org.jspecify.annotations.NullMarked;
