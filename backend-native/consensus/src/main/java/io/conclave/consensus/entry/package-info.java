/** The values of the log: batches, entries and where they came from, the cluster's configuration, and their bytes. */
@NullMarked
package io.conclave.consensus.entry;

import org.jspecify.annotations.NullMarked;
