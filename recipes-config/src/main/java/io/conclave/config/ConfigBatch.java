package io.conclave.config;

import io.conclave.node.NodePath;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;

/** Changes of several keys that are to be published together. Immutable; each method makes a larger one. */
public final class ConfigBatch {
    /** Nothing yet. */
    public static final ConfigBatch EMPTY = new ConfigBatch(Map.of());

    private static final byte[] NO_DATA = {};

    private final Map<String, Entry> entries;

    /**
     * What is to become of a key.
     *
     * @param data the new data; empty to take the value away
     * @param changes whether anything is written
     * @param expected the version that must be there
     */
    record Entry(byte[] data, boolean changes, OptionalInt expected) {}

    private ConfigBatch(Map<String, Entry> entries) {
        this.entries = entries;
    }

    /** A batch that sets one key. */
    public static <T> ConfigBatch setting(ConfigKey<T> key, T value) {
        return EMPTY.set(key, value);
    }

    /** And sets a key. */
    public <T> ConfigBatch set(ConfigKey<T> key, T value) {
        return with(key, SharedValue.encode(key.pathIn(NodePath.ROOT), key.codec(), value));
    }

    /**
     * And takes the value of a key away. Where the key has no znode, the transaction makes and deletes one, so that
     * none can have come meanwhile: the client needs the right for both there.
     */
    public ConfigBatch remove(ConfigKey<?> key) {
        return with(key, NO_DATA);
    }

    /**
     * On condition that the value of a key is still this one; whether it is changed or not.
     *
     * @throws IllegalArgumentException if the expected version is -1, which stands for any
     */
    public <T> ConfigBatch expecting(ConfigKey<T> key, Versioned<T> expected) {
        Entry present = entries.getOrDefault(key.name(), new Entry(NO_DATA, false, OptionalInt.empty()));
        return with(
                key,
                new Entry(
                        present.data,
                        present.changes,
                        OptionalInt.of(expected.asExpected().version())));
    }

    private ConfigBatch with(ConfigKey<?> key, byte[] data) {
        Entry present = entries.get(key.name());
        return with(key, new Entry(data, true, present == null ? OptionalInt.empty() : present.expected));
    }

    private ConfigBatch with(ConfigKey<?> key, Entry entry) {
        Map<String, Entry> more = new LinkedHashMap<>(entries);
        more.put(key.name(), entry);
        return new ConfigBatch(more);
    }

    Map<String, Entry> entries() {
        return entries;
    }

    /** The keys; never the values. */
    @Override
    public String toString() {
        return "ConfigBatch" + entries.keySet();
    }
}
