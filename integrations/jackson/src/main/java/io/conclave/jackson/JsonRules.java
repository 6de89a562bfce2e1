package io.conclave.jackson;

import org.jspecify.annotations.Nullable;

/**
 * What a codec refuses, and how it says so: the same for both lines of Jackson, which share no types.
 *
 * @param type the type of the values, as Jackson names it
 */
record JsonRules(String type) {
    /** What was read, if it is not null. */
    <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalArgumentException("Invalid JSON of " + type + ": it must not be null");
        }
        return value;
    }

    IllegalArgumentException unreadable(byte[] data, String reason, Exception cause) {
        return new IllegalArgumentException(
                "Invalid JSON of " + type + " in " + data.length + " bytes: " + reason, cause);
    }

    IllegalArgumentException unwritable(String reason, Exception cause) {
        return new IllegalArgumentException(
                "Invalid value of " + type + ": it cannot be written as JSON: " + reason, cause);
    }
}
