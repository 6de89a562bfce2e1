/**
 * Servers in containers, for tests with Testcontainers: {@link io.conclave.testcontainers.ConclaveContainer} is one
 * server, {@link io.conclave.testcontainers.ConclaveCluster} several that form a cluster.
 */
@NullMarked
package io.conclave.testcontainers;

import org.jspecify.annotations.NullMarked;
