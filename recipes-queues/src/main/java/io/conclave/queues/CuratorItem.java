package io.conclave.queues;

import io.conclave.node.DataCodec;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;

/**
 * The data of an item as Curator's queues write it: a version, the item's length and bytes after a mark, and an end
 * mark. Those can hold several items in one znode ({@code putMulti}); here it is one.
 */
final class CuratorItem {
    private static final int VERSION = 0x00010001;
    private static final byte ITEM = 1;
    private static final byte END = 2;
    private static final int FRAME = Integer.BYTES + 1 + Integer.BYTES + 1;

    private CuratorItem() {}

    static <T> DataCodec<T> of(DataCodec<T> codec) {
        Objects.requireNonNull(codec, "codec");
        return DataCodec.of(value -> framed(codec.encode(value)), data -> codec.decode(content(data)));
    }

    private static byte[] framed(byte[] content) {
        return ByteBuffer.allocate(FRAME + content.length)
                .putInt(VERSION)
                .put(ITEM)
                .putInt(content.length)
                .put(content)
                .put(END)
                .array();
    }

    private static byte[] content(byte[] data) {
        int length = data.length - FRAME;
        if (length < 0) {
            throw refused(data);
        }
        ByteBuffer read = ByteBuffer.wrap(data);
        boolean isOne = read.getInt() == VERSION && read.get() == ITEM && read.getInt() == length;
        if (!isOne || data[data.length - 1] != END) {
            throw refused(data);
        }
        return Arrays.copyOfRange(data, FRAME - 1, data.length - 1);
    }

    private static IllegalArgumentException refused(byte[] data) {
        return new IllegalArgumentException("Invalid item of " + data.length
                + " bytes: it must be one item in the form of Curator's queues (not several, by putMulti)");
    }
}
