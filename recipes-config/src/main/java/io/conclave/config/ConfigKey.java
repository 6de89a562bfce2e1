package io.conclave.config;

import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import java.util.Objects;

/**
 * A key of a configuration and the type of its values. Immutable; usually a constant.
 *
 * @param <T> the type of the values
 * @param name one or more components with slashes between them, such as {@code db/pool-size}
 * @param codec turns values into data and back
 */
public record ConfigKey<T>(String name, DataCodec<T> codec) {
    /**
     * Checks the name.
     *
     * @throws IllegalArgumentException if it breaks a rule of paths, naming it
     */
    public ConfigKey {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(codec, "codec");
        NodePath.of("/" + name);
        if (name.isEmpty()) {
            throw new IllegalArgumentException("Invalid key \"\": it must not be empty");
        }
    }

    /** A key of any type. */
    public static <T> ConfigKey<T> of(String name, DataCodec<T> codec) {
        return new ConfigKey<>(name, codec);
    }

    /** A key whose values are text. */
    public static ConfigKey<String> ofText(String name) {
        return of(name, DataCodec.TEXT);
    }

    /** A key whose values are whole numbers, written as text. */
    public static ConfigKey<Long> ofLong(String name) {
        return of(name, DataCodec.LONG);
    }

    /** A key whose values are true or false, written as text. */
    public static ConfigKey<Boolean> ofBoolean(String name) {
        return of(name, DataCodec.BOOLEAN);
    }

    NodePath pathIn(NodePath root) {
        return NodePath.of("/" + name).within(root);
    }

    @Override
    public String toString() {
        return name;
    }
}
