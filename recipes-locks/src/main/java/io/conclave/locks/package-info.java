/**
 * Distributed locks: at most one holder, proven to others by a fencing token, with a deadline and a loss signal.
 */
@NullMarked
package io.conclave.locks;

import org.jspecify.annotations.NullMarked;
