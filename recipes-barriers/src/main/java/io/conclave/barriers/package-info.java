/**
 * Barrier and double barrier, as the ZooKeeper recipes page defines them, and a latch: processes that wait for a moment
 * which they have in common.
 *
 * <p>A {@link io.conclave.barriers.Barrier} is in place while its znode exists; a
 * {@link io.conclave.barriers.DoubleBarrier} lets a number of processes begin together and end together; a
 * {@link io.conclave.barriers.Latch} opens when a number of things have been done. Every wake-up looks again at what is
 * waited for; nothing is concluded from an event alone.
 */
@NullMarked
package io.conclave.barriers;

import org.jspecify.annotations.NullMarked;
