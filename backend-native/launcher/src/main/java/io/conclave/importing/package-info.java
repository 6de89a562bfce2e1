/**
 * Reads what Apache ZooKeeper has written: snapshots and transaction logs of 3.5 to 3.9. Changes none of it.
 *
 * <p>The formats are those of ZooKeeper's {@code FileSnap}, {@code FileTxnLog} and {@code zookeeper.jute}; what a
 * transaction does to the tree is what its {@code DataTree} does when it replays a log.
 */
@NullMarked
package io.conclave.importing;

import org.jspecify.annotations.NullMarked;
