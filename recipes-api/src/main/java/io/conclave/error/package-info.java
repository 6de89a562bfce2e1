/**
 * The four kinds of failure, as types: refused, outcome unknown, session gone, closed. Imports nothing of the house.
 */
@NullMarked
package io.conclave.error;

import org.jspecify.annotations.NullMarked;
