package io.conclave.consensus.core;

/**
 * How a core behaves in time, and its bounds. Batches are never divided: one that is larger than a bound still goes,
 * alone.
 *
 * @param electionTimeoutMs a leader that is silent for this to twice this is suspected; one that does not hear a
 *     majority for this long steps down
 * @param heartbeatMs a leader is never silent for longer
 * @param appendBytes of batches in one append
 * @param inFlightBytes sent to one member and not acknowledged
 * @param inFlightAppends sent to one member and not acknowledged
 * @param tailBytes committed batches kept in memory for members that come back soon
 * @param windowBytes batches kept in memory for connected members that lag; one that is further behind gets a snapshot
 */
public record CoreOptions(
        long electionTimeoutMs,
        long heartbeatMs,
        int appendBytes,
        int inFlightBytes,
        int inFlightAppends,
        long tailBytes,
        long windowBytes) {
    /** What fits a local network. */
    public static final CoreOptions DEFAULT = new CoreOptions(1_000, 200, 1 << 20, 16 << 20, 256, 8L << 20, 64L << 20);

    public CoreOptions {
        if (heartbeatMs < 1 || electionTimeoutMs < 2 * heartbeatMs) {
            throw new IllegalArgumentException("electionTimeoutMs (" + electionTimeoutMs
                    + ") must be at least twice heartbeatMs (" + heartbeatMs + "), which must be positive");
        }
        if (appendBytes < 1 || inFlightBytes < 1 || inFlightAppends < 1 || tailBytes < 0 || windowBytes < tailBytes) {
            throw new IllegalArgumentException("bounds must be positive and windowBytes (" + windowBytes
                    + ") at least tailBytes (" + tailBytes + ")");
        }
    }

    /** The same with at most so many bytes of batches in memory, and the other bounds to match. */
    public CoreOptions withWindow(long newWindowBytes) {
        long window = Math.min(windowBytes, newWindowBytes);
        return new CoreOptions(
                electionTimeoutMs,
                heartbeatMs,
                (int) Math.min(appendBytes, window / 4),
                (int) Math.min(inFlightBytes, window / 4),
                inFlightAppends,
                Math.min(tailBytes, window / 8),
                window);
    }

    /** The same with other times. */
    public CoreOptions withTimes(long newElectionTimeoutMs, long newHeartbeatMs) {
        return new CoreOptions(
                newElectionTimeoutMs,
                newHeartbeatMs,
                appendBytes,
                inFlightBytes,
                inFlightAppends,
                tailBytes,
                windowBytes);
    }
}
