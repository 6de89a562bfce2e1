/**
 * The replicated log: proposals go in from any thread, committed batches come out in one order on one thread; with the
 * log's files and their recovery.
 */
@NullMarked
package io.conclave.consensus;

import org.jspecify.annotations.NullMarked;
