package io.conclave.tree;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The text of the znodes of a quota, in ZooKeeper's format: {@code count=5,bytes=100}, and with other fields {@code
 * count=5,bytes=100=;byteHardLimit=-1;countHardLimit=9}. The stray {@code =} is part of it: it keeps old clients from
 * reading what follows. Any names are kept, in order. Immutable.
 */
final class QuotaText {
    /** What is not set. */
    static final long NONE = -1;

    /** Clients may write anything into these znodes, and each write below the quota would read it again. */
    static final int MAX_BYTES = 1024;

    private static final String COUNT = "count";
    private static final String BYTES = "bytes";
    private static final Pattern SEPARATOR = Pattern.compile("[,;]+");

    private final SortedMap<String, Long> values; // not changed once made

    private QuotaText(SortedMap<String, Long> values) {
        this.values = values;
    }

    static QuotaText of(long count, long bytes) {
        return new QuotaText(new TreeMap<>()).with(count, bytes);
    }

    /** Empty for what is not in the format, or longer than {@link #MAX_BYTES}. */
    static Optional<QuotaText> parse(byte @Nullable [] data) {
        if (data == null || data.length > MAX_BYTES) {
            return Optional.empty();
        }
        SortedMap<String, Long> values = new TreeMap<>();
        if (data.length == 0) {
            return Optional.of(new QuotaText(values));
        }
        for (String pair : SEPARATOR.split(new String(data, StandardCharsets.UTF_8))) {
            String[] parts = pair.split("=");
            if (parts.length < 2) {
                return Optional.empty();
            }
            try {
                values.put(parts[0], parts[1].isEmpty() ? NONE : Long.parseLong(parts[1]));
            } catch (NumberFormatException notInTheFormat) {
                return Optional.empty();
            }
        }
        return Optional.of(new QuotaText(values));
    }

    long count() {
        return value(COUNT);
    }

    long bytes() {
        return value(BYTES);
    }

    long countHardLimit() {
        return value("countHardLimit");
    }

    long byteHardLimit() {
        return value("byteHardLimit");
    }

    private long value(String name) {
        return values.getOrDefault(name, NONE);
    }

    QuotaText plus(long moreCount, long moreBytes) {
        return with(count() + moreCount, bytes() + moreBytes);
    }

    private QuotaText with(long count, long bytes) {
        SortedMap<String, Long> changed = new TreeMap<>(values);
        changed.put(COUNT, count);
        changed.put(BYTES, bytes);
        return new QuotaText(changed);
    }

    byte[] toBytes() {
        return toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        StringBuilder text =
                new StringBuilder("count=").append(count()).append(",bytes=").append(bytes());
        boolean first = true;
        for (Map.Entry<String, Long> entry : values.entrySet()) {
            if (!entry.getKey().equals(COUNT) && !entry.getKey().equals(BYTES)) {
                text.append(first ? "=;" : ";")
                        .append(entry.getKey())
                        .append('=')
                        .append(entry.getValue());
                first = false;
            }
        }
        return text.toString();
    }
}
