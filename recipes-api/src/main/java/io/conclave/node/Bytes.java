package io.conclave.node;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * Bytes that do not change, compared by value: the data of a znode in requests and answers.
 *
 * <p>An application meets it in records with data, whose {@code data()} is a copy of it. Backends and recipes pass it
 * on without a copy: a write copies the application's array once, when the request is made, and a read copies once for
 * each call of {@code data()}.
 */
public final class Bytes {
    private static final Bytes EMPTY = new Bytes(new byte[0]);

    private final byte[] array;

    private Bytes(byte[] array) {
        this.array = array;
    }

    /** No bytes. */
    public static Bytes empty() {
        return EMPTY;
    }

    /** A copy of these bytes. */
    public static Bytes copyOf(byte[] bytes) {
        return bytes.length == 0 ? EMPTY : new Bytes(bytes.clone());
    }

    /** The text in UTF-8. */
    public static Bytes ofText(String text) {
        return adopt(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * These bytes without a copy. For backends and recipes that made the array and hand it over: it must not be changed
     * afterwards.
     */
    public static Bytes adopt(byte[] bytes) {
        return new Bytes(Objects.requireNonNull(bytes, "bytes"));
    }

    /** How many bytes there are. */
    public int size() {
        return array.length;
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return array.length == 0;
    }

    /** A copy, which the caller may change. */
    public byte[] toArray() {
        return array.clone();
    }

    /** A view that cannot be written to, without a copy. */
    public ByteBuffer buffer() {
        return ByteBuffer.wrap(array).asReadOnlyBuffer();
    }

    /** The bytes read as UTF-8. */
    public String text() {
        return new String(array, StandardCharsets.UTF_8);
    }

    /** Whether these are the same bytes as the array's. */
    public boolean contentEquals(byte[] bytes) {
        return Arrays.equals(array, bytes);
    }

    /** The array itself, without a copy. For backends and recipes that only read it: it must not be changed. */
    public byte[] lend() {
        return array;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes bytes && Arrays.equals(array, bytes.array);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(array);
    }

    /** The number of bytes; never the bytes, which may be confidential. */
    @Override
    public String toString() {
        return array.length + " bytes";
    }
}
