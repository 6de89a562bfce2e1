/**
 * Work queues, first in first out, by priority or by time: items are taken at most once, or claimed, acknowledged and
 * delivered again.
 */
@NullMarked
package io.conclave.queues;

import org.jspecify.annotations.NullMarked;
