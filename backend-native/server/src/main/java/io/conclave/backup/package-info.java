/**
 * A state in a file that stands by itself: made, checked and read.
 */
@NullMarked
package io.conclave.backup;

import org.jspecify.annotations.NullMarked;
