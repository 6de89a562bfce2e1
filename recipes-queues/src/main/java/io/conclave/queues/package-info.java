/**
 * FIFO, priority and delay queues with claim, acknowledge and redeliver.
 */
@NullMarked
package io.conclave.queues;

import org.jspecify.annotations.NullMarked;
