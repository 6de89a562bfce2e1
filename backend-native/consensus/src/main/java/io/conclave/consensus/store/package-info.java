/** Where one member keeps its vote, its log and its snapshots: files, or memory. */
@NullMarked
package io.conclave.consensus.store;

import org.jspecify.annotations.NullMarked;
