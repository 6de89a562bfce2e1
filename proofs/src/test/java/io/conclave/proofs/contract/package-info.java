/**
 * The contract of the lock on every backend. The backend's own contract runs in the modules of the backends.
 */
@NullMarked
package io.conclave.proofs.contract;

import org.jspecify.annotations.NullMarked;
