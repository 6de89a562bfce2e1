package io.conclave.queues;

/**
 * How many items a queue has.
 *
 * @param waiting items without a claim
 * @param claimed items that a consumer works on
 * @param dead that were delivered too often
 */
public record QueueCount(int waiting, int claimed, int dead) {}
