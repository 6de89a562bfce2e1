/**
 * Side by side: this project's server and recipes against Apache ZooKeeper and Curator, driven by the same program on
 * the same machine in turns, so that a ratio means something where an absolute number does not.
 */
@NullMarked
package io.conclave.benchmarks;

import org.jspecify.annotations.NullMarked;
