package io.conclave.jackson;

import io.conclave.node.DataCodec;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;

/**
 * Keeps values as JSON with Jackson 3: a {@link DataCodec} for configuration keys, shared values, queues and groups.
 *
 * <p>What is read is one JSON value and nothing behind it, and never null: anything else is an {@link
 * IllegalArgumentException} that names the type and what Jackson says. Whether unknown properties are refused is the
 * mapper's setting; let it accept them ({@code FAIL_ON_UNKNOWN_PROPERTIES} off) where processes of two versions share
 * data. A codec takes the mapper's settings when it is made. It is thread-safe and does not block.
 *
 * @param <T> the type of the values
 */
public final class Jackson3Codec<T> implements DataCodec<T> {
    private final JsonRules rules;
    private final ObjectWriter writer;
    private final ObjectReader reader;

    private Jackson3Codec(ObjectMapper mapper, JavaType type) {
        this.rules = new JsonRules(type.toCanonical());
        this.writer = mapper.writerFor(type);
        this.reader = mapper.readerFor(type).with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    }

    /**
     * A codec of a class.
     *
     * @param mapper the application's, with its modules and settings
     * @param type the class of the values
     */
    public static <T> Jackson3Codec<T> of(ObjectMapper mapper, Class<T> type) {
        return new Jackson3Codec<>(mapper, mapper.constructType(type));
    }

    /**
     * A codec of a type with type arguments, such as a list of orders.
     *
     * @param mapper the application's, with its modules and settings
     * @param type made by the mapper's {@code getTypeFactory()} or {@code constructType}; the caller vouches that it is
     *     that of the values
     */
    public static <T> Jackson3Codec<T> of(ObjectMapper mapper, JavaType type) {
        return new Jackson3Codec<>(mapper, type);
    }

    /**
     * The value as JSON in UTF-8.
     *
     * @throws IllegalArgumentException if Jackson cannot write it
     */
    @Override
    public byte[] encode(T value) {
        Objects.requireNonNull(value, "value");
        try {
            return writer.writeValueAsBytes(value);
        } catch (JacksonException e) {
            throw rules.unwritable(e.getOriginalMessage(), e);
        }
    }

    /**
     * The value that JSON says.
     *
     * @throws IllegalArgumentException if the data is not exactly one JSON value of the type
     */
    @Override
    public T decode(byte[] data) {
        try {
            return rules.present(reader.<@Nullable T>readValue(data));
        } catch (JacksonException e) {
            throw rules.unreadable(data, e.getOriginalMessage(), e);
        }
    }

    @Override
    public String toString() {
        return "JSON of " + rules.type();
    }
}
