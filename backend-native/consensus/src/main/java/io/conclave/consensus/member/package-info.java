/**
 * The shell around consensus: one thread's worth of stepping the core, sending, writing, applying, with forwarding,
 * reads, snapshots and membership. It knows neither threads nor sockets, so that a simulator can drive it.
 */
@NullMarked
package io.conclave.consensus.member;

import org.jspecify.annotations.NullMarked;
