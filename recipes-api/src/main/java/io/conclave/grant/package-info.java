/**
 * What locks, leaders, permits, leases and partitions have in common: deadline, loss signal and, where one holds at a
 * time, a token.
 */
@NullMarked
package io.conclave.grant;

import org.jspecify.annotations.NullMarked;
