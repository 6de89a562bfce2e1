/**
 * The process that an operator starts.
 */
@NullMarked
package io.conclave.launcher;

import org.jspecify.annotations.NullMarked;
