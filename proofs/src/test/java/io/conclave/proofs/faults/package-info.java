/**
 * Real processes and their faults: kill -9, SIGSTOP, full and damaged disks, malformed bytes.
 */
@NullMarked
package io.conclave.proofs.faults;

import org.jspecify.annotations.NullMarked;
