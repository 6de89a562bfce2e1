/**
 * Links between members: which members may speak to each other, frames, messages as bytes, and the one thread that all
 * of it runs on.
 */
@NullMarked
package io.conclave.consensus.peer;

import org.jspecify.annotations.NullMarked;
