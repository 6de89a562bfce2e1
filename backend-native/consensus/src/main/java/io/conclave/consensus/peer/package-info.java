/** Links between members: who may speak to whom, frames, messages as bytes, and the one thread that all of it runs on. */
@NullMarked
package io.conclave.consensus.peer;

import org.jspecify.annotations.NullMarked;
