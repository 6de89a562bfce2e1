package io.conclave.config;

import io.conclave.node.NodePath;
import java.nio.ByteBuffer;
import java.util.stream.LongStream;

/** What stands in a counter's znode: its value, and the marks of the last writes, the newest first. */
final class CounterRecord {
    /** So many writes can be distinguished after a lost reply. */
    static final int MARKS = 32;

    static final CounterRecord ZERO = new CounterRecord(0, new long[0]);

    private final long value;
    private final long[] marks;

    private CounterRecord(long value, long[] marks) {
        this.value = value;
        this.marks = marks;
    }

    /**
     * Reads a znode's data; none is 0.
     *
     * @throws IllegalArgumentException if it is no counter, naming the znode
     */
    static CounterRecord parse(NodePath path, byte[] data) {
        if (data.length == 0) {
            return ZERO;
        }
        if (data.length % Long.BYTES != 0 || data.length > (MARKS + 1) * Long.BYTES) {
            throw new IllegalArgumentException("Invalid counter at " + path + ": " + data.length + " bytes are none");
        }
        ByteBuffer buffer = ByteBuffer.wrap(data);
        long value = buffer.getLong();
        long[] marks = new long[buffer.remaining() / Long.BYTES];
        buffer.asLongBuffer().get(marks);
        return new CounterRecord(value, marks);
    }

    long value() {
        return value;
    }

    boolean isMarked(long mark) {
        return LongStream.of(marks).anyMatch(other -> other == mark);
    }

    CounterRecord next(long newValue, long mark) {
        long[] newMarks = new long[Math.min(MARKS, marks.length + 1)];
        newMarks[0] = mark;
        System.arraycopy(marks, 0, newMarks, 1, newMarks.length - 1);
        return new CounterRecord(newValue, newMarks);
    }

    byte[] data() {
        ByteBuffer buffer = ByteBuffer.allocate((marks.length + 1) * Long.BYTES);
        buffer.putLong(value);
        buffer.asLongBuffer().put(marks);
        return buffer.array();
    }
}
