/**
 * Real processes and what can befall them: kill -9, SIGSTOP, full and damaged disks, hostile bytes.
 */
@NullMarked
package io.conclave.proofs.faults;

import org.jspecify.annotations.NullMarked;
