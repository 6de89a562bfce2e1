/** Clients without credentials that do what harms a server most, and what other clients notice of it. */
@NullMarked
package io.conclave.proofs.attacks;

import org.jspecify.annotations.NullMarked;
