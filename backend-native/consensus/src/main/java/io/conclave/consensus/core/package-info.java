/** Consensus as a value: Raft (Ongaro's thesis) without clock, thread, I/O or randomness of its own. */
@NullMarked
package io.conclave.consensus.core;

import org.jspecify.annotations.NullMarked;
