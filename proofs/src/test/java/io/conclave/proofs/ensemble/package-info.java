/**
 * Ensembles of real server processes, ours and Apache ZooKeeper's behind one face: killed, stopped, cut off from each
 * other, and watched while clients work.
 */
@NullMarked
package io.conclave.proofs.ensemble;

import org.jspecify.annotations.NullMarked;
