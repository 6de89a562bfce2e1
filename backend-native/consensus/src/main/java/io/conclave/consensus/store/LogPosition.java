package io.conclave.consensus.store;

/** A place in the log files; ordered along the log. */
record LogPosition(long segment, long offset) implements Comparable<LogPosition> {
    static final LogPosition START = new LogPosition(0, 0);

    @Override
    public int compareTo(LogPosition other) {
        return segment != other.segment ? Long.compare(segment, other.segment) : Long.compare(offset, other.offset);
    }

    static LogPosition later(LogPosition one, LogPosition other) {
        return one.compareTo(other) >= 0 ? one : other;
    }
}
