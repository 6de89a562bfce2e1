/**
 * The contracts of the recipes on every backend. The backend's own contract runs in the modules of the backends.
 */
@NullMarked
package io.conclave.proofs.contract;

import org.jspecify.annotations.NullMarked;
