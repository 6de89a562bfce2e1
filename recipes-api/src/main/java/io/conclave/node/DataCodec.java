package io.conclave.node;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Function;

/**
 * Turns values into the data of a znode and back. Must be thread-safe and must not block.
 *
 * @param <T> the type of the values
 */
public interface DataCodec<T> {
    /** The bytes as they are; copied in both directions. */
    DataCodec<byte[]> BYTES = of(byte[]::clone, byte[]::clone);

    /** Text in UTF-8; anything else is refused, and so is text with half of a surrogate pair, which has no UTF-8. */
    DataCodec<String> TEXT = of(
            text -> {
                try {
                    ByteBuffer data = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
                    return Arrays.copyOf(data.array(), data.limit());
                } catch (CharacterCodingException e) {
                    throw new IllegalArgumentException(
                            "Invalid text: one of its " + text.length()
                                    + " chars is half of a surrogate pair, which has no UTF-8",
                            e);
                }
            },
            data -> {
                try {
                    CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data));
                    return text.toString();
                } catch (CharacterCodingException e) {
                    throw new IllegalArgumentException("Invalid text: " + data.length + " bytes are not UTF-8", e);
                }
            });

    /** A whole number, as decimal text. */
    DataCodec<Long> LONG = TEXT.mapped(text -> Long.parseLong(text.strip()), value -> Long.toString(value));

    /** True or false, as text. */
    DataCodec<Boolean> BOOLEAN = TEXT.mapped(
            text -> switch (text.strip()) {
                case "true" -> true;
                case "false" -> false;
                default ->
                    throw new IllegalArgumentException("Invalid boolean \"" + text + "\": it must be true or false");
            },
            value -> Boolean.toString(value));

    /** The data of a value, in an array that the codec does not use again. */
    byte[] encode(T value);

    /**
     * The value of data, which must not be changed.
     *
     * @throws RuntimeException if the data is no such value, naming the rule
     */
    T decode(byte[] data);

    /** A codec of two functions. */
    static <T> DataCodec<T> of(Function<? super T, byte[]> encoder, Function<byte[], ? extends T> decoder) {
        return new DataCodec<>() {
            @Override
            public byte[] encode(T value) {
                return encoder.apply(value);
            }

            @Override
            public T decode(byte[] data) {
                return decoder.apply(data);
            }
        };
    }

    /** A codec of another type, through this one. */
    default <U> DataCodec<U> mapped(
            Function<? super T, ? extends U> decoder, Function<? super U, ? extends T> encoder) {
        return of(value -> encode(encoder.apply(value)), data -> decoder.apply(decode(data)));
    }
}
