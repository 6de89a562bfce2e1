package io.conclave.connection;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/** The value of each {@link ClientLimit}, and whether the hard limits of quotas are enforced. Immutable. */
public final class ClientLimits {
    private final Map<ClientLimit, Long> values; // of all limits, and not changed once made

    private final boolean enforcesQuotas;

    private ClientLimits(Map<ClientLimit, Long> values, boolean enforcesQuotas) {
        this.values = values;
        this.enforcesQuotas = enforcesQuotas;
    }

    /** The defaults of a server in this JVM. */
    public static ClientLimits defaults() {
        return defaults(Runtime.getRuntime().maxMemory());
    }

    /** The defaults of a server whose heap may grow to so many bytes. */
    static ClientLimits defaults(long heapBytes) {
        Map<ClientLimit, Long> values = new EnumMap<>(ClientLimit.class);
        for (ClientLimit limit : ClientLimit.values()) {
            values.put(limit, limit.defaultOf(heapBytes));
        }
        return new ClientLimits(values, false);
    }

    /** The same with another value of one of them; 0 for no bound. */
    public ClientLimits with(ClientLimit limit, long value) {
        Map<ClientLimit, Long> changed = new EnumMap<>(values);
        changed.put(limit, value);
        return new ClientLimits(changed, enforcesQuotas);
    }

    /** The same, but writes beyond the hard limits of quotas are refused, or are not. */
    public ClientLimits enforcingQuotas(boolean enforce) {
        return new ClientLimits(values, enforce);
    }

    /** Whether writes beyond the hard limits of quotas are refused. */
    public boolean enforcesQuotas() {
        return enforcesQuotas;
    }

    /** The most that is allowed; {@link Long#MAX_VALUE} for no bound. */
    public long most(ClientLimit limit) {
        long value = configured(limit);
        return value == 0 ? Long.MAX_VALUE : value;
    }

    /** As it was configured; 0 for no bound. */
    public long configured(ClientLimit limit) {
        return Objects.requireNonNull(values.get(limit));
    }
}
