package io.conclave.queues;

import java.time.Duration;
import java.util.OptionalInt;

/**
 * How a process uses a queue.
 *
 * @param bound how many items it puts at most, if it heeds a bound
 * @param visibility how long a claimed item stays hidden
 * @param maxDeliveries how often an item is delivered by claims before it is a dead letter
 */
record QueueOptions(OptionalInt bound, Duration visibility, int maxDeliveries) {
    static final QueueOptions DEFAULT = new QueueOptions(OptionalInt.empty(), Duration.ofMinutes(5), 10);

    QueueOptions {
        if (bound.isPresent() && bound.getAsInt() < 1) {
            throw new IllegalArgumentException("Invalid bound " + bound.getAsInt() + ": it must be positive");
        }
        if (visibility.isZero() || visibility.isNegative()) {
            throw new IllegalArgumentException("Invalid visibility " + visibility + ": it must be positive");
        }
        if (maxDeliveries < 1) {
            throw new IllegalArgumentException(
                    "Invalid number of deliveries " + maxDeliveries + ": it must be positive");
        }
    }

    QueueOptions withBound(int items) {
        return new QueueOptions(OptionalInt.of(items), visibility, maxDeliveries);
    }

    QueueOptions withVisibility(Duration duration) {
        return new QueueOptions(bound, duration, maxDeliveries);
    }

    QueueOptions withMaxDeliveries(int number) {
        return new QueueOptions(bound, visibility, number);
    }
}
