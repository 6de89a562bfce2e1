/**
 * The replicated state of the server as a value: the tree of znodes, the sessions, and the one function that takes a
 * change and yields the next state.
 *
 * <p>Nothing here reads a clock, draws a random number, starts a thread, reads configuration or does I/O; every
 * member that applies the same changes in the same order with the same times gets the same state.
 */
@NullMarked
package io.conclave.tree;

import org.jspecify.annotations.NullMarked;
