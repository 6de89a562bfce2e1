/**
 * Classes that break the rules of the architecture on purpose, to show that the rules can fail.
 */
@NullMarked
package io.conclave.proofs.architecture.planted;

import org.jspecify.annotations.NullMarked;
