package io.conclave.server;

/**
 * How the leader deletes empty containers and nodes that have outlived their time.
 *
 * @param checkIntervalMs how often they are looked for
 * @param maxPerMinute how many are deleted in a minute at most
 * @param maxNeverUsedMs how long a container may be there without ever having a child; 0 means no limit
 */
public record Reaping(long checkIntervalMs, int maxPerMinute, long maxNeverUsedMs) {
    /** ZooKeeper's. */
    static final Reaping DEFAULT = new Reaping(60_000, 10_000, 0);

    /** Checks the bounds. */
    public Reaping {
        if (checkIntervalMs < 1 || maxPerMinute < 1 || maxNeverUsedMs < 0) {
            throw new IllegalArgumentException("checkIntervalMs and maxPerMinute must be positive, maxNeverUsedMs not"
                    + " negative: " + checkIntervalMs + ", " + maxPerMinute + ", " + maxNeverUsedMs);
        }
    }

    Reaping withCheckIntervalMs(long value) {
        return new Reaping(value, maxPerMinute, maxNeverUsedMs);
    }

    Reaping withMaxPerMinute(int value) {
        return new Reaping(checkIntervalMs, value, maxNeverUsedMs);
    }

    Reaping withMaxNeverUsedMs(long value) {
        return new Reaping(checkIntervalMs, maxPerMinute, value);
    }

    /** How many are proposed at a time: a second's share, but so few that they do not crowd clients out. */
    int batch() {
        return Math.max(1, Math.min(1000, maxPerMinute / 60));
    }

    /** After how many milliseconds so many are within the limit. */
    long paceMs(int proposed) {
        return (proposed * 60_000L + maxPerMinute - 1) / maxPerMinute;
    }
}
