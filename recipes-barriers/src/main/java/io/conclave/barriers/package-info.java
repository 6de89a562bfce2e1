/**
 * Barrier, double barrier and count-down, as the recipes page defines them.
 */
@NullMarked
package io.conclave.barriers;

import org.jspecify.annotations.NullMarked;
