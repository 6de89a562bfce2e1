/**
 * The five kinds of failure, as types: refused, outcome unknown, session gone, not connected, closed; and what waits
 * and grants add to them. Imports nothing of Conclave.
 */
@NullMarked
package io.conclave.error;

import org.jspecify.annotations.NullMarked;
