/**
 * Ensembles of servers for tests, in one JVM or as processes. Servers can be killed, restarted, paused and cut
 * off from each other.
 */
@NullMarked
package io.conclave.ensemble;

import org.jspecify.annotations.NullMarked;
