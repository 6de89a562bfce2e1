package io.conclave.queues;

/**
 * How many items a queue has.
 *
 * @param waiting that nobody works on
 * @param claimed that somebody works on
 * @param dead that were delivered too often
 */
public record QueueCount(int waiting, int claimed, int dead) {}
