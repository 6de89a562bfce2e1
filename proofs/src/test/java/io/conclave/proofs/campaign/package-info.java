/**
 * Clients of every kind work against an ensemble while its processes are killed and stopped and its links are cut; what
 * they were told is recorded and checked.
 */
@NullMarked
package io.conclave.proofs.campaign;

import org.jspecify.annotations.NullMarked;
