/**
 * The architecture as tests: which module and package may use which, which classes read a clock, and what a user gets.
 */
@NullMarked
package io.conclave.proofs.architecture;

import org.jspecify.annotations.NullMarked;
