package io.conclave.connection;

import java.util.Arrays;

/** The value of each {@link ClientLimit}. Immutable. */
public final class ClientLimits {
    private final long[] values;

    private ClientLimits(long[] values) {
        this.values = values;
    }

    /** The defaults of a server in this JVM. */
    public static ClientLimits defaults() {
        return defaults(Runtime.getRuntime().maxMemory());
    }

    /** The defaults of a server whose heap may grow to so many bytes. */
    static ClientLimits defaults(long heapBytes) {
        return new ClientLimits(Arrays.stream(ClientLimit.values())
                .mapToLong(limit -> limit.defaultOf(heapBytes))
                .toArray());
    }

    /** The same with another value of one of them; 0 for no bound. */
    public ClientLimits with(ClientLimit limit, long value) {
        long[] changed = values.clone();
        changed[limit.ordinal()] = value;
        return new ClientLimits(changed);
    }

    /** The most that is allowed; {@link Long#MAX_VALUE} for no bound. */
    public long most(ClientLimit limit) {
        long value = values[limit.ordinal()];
        return value == 0 ? Long.MAX_VALUE : value;
    }

    /** As it was configured; 0 for no bound. */
    public long configured(ClientLimit limit) {
        return values[limit.ordinal()];
    }
}
