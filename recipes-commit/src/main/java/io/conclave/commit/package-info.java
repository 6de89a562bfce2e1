/**
 * Two-phase commit with a durable decision record and recovery of in-doubt work.
 */
@NullMarked
package io.conclave.commit;

import org.jspecify.annotations.NullMarked;
