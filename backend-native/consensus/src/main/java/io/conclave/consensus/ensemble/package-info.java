/** Puts a member, its store, its links and its thread together as a {@link io.conclave.consensus.ReplicatedLog}. */
@NullMarked
package io.conclave.consensus.ensemble;

import org.jspecify.annotations.NullMarked;
