/**
 * Spring Integration's locks and leaders on a coordinator: {@link
 * io.conclave.spring.integration.ConclaveLockRegistry} and {@link
 * io.conclave.spring.integration.ConclaveLeaderInitiator}.
 */
@NullMarked
package io.conclave.spring.integration;

import org.jspecify.annotations.NullMarked;
