/**
 * The replicated state as the log drives it: entries are decoded, applied to the tree, and handed on step by step, each
 * with the state right after it.
 */
@NullMarked
package io.conclave.replica;

import org.jspecify.annotations.NullMarked;
