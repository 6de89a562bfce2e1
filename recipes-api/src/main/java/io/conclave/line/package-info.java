/**
 * The wait line that locks, elections and semaphore admission share.
 */
@NullMarked
package io.conclave.line;

import org.jspecify.annotations.NullMarked;
