/**
 * The plan of the house as tests: which module and package may use which, who reads a clock, and what a user gets.
 */
@NullMarked
package io.conclave.proofs.architecture;

import org.jspecify.annotations.NullMarked;
