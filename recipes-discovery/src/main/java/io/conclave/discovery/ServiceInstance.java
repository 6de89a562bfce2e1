package io.conclave.discovery;

import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One instance of a service: where it is reached, and what else it tells of itself. Immutable.
 *
 * <pre>{@code
 * ServiceInstance me = ServiceInstance.named("orders").address("10.0.0.5").port(8080).build();
 * }</pre>
 *
 * <p>It has the fields of Curator's {@code ServiceInstance}. The payload is any JSON value, kept as its text: what
 * class it stands for is the application's business, and none is loaded for it.
 */
public final class ServiceInstance {
    private static final int MAX_PORT = 65_535;
    private static final String DYNAMIC = "DYNAMIC";

    private final String name;
    private final String id;
    private final String address;
    private final OptionalInt port;
    private final OptionalInt sslPort;
    private final Optional<String> payload;
    private final Optional<Instant> registeredAt;
    private final String serviceType;
    private final Optional<UriSpec> uriSpec;
    private final boolean enabled;

    private ServiceInstance(Builder builder) {
        this.name = builder.name;
        this.id = builder.id == null ? UUID.randomUUID().toString() : builder.id;
        this.address = builder.address;
        this.port = builder.port;
        this.sslPort = builder.sslPort;
        this.payload = Optional.ofNullable(builder.payload);
        this.registeredAt = Optional.ofNullable(builder.registeredAt);
        this.serviceType = builder.serviceType;
        this.uriSpec = Optional.ofNullable(builder.uriSpec);
        this.enabled = builder.enabled;
    }

    /** What makes an instance of the service of this name; with a random id if none is given. */
    public static Builder named(String service) {
        return new Builder(service);
    }

    /** What makes an instance that differs from this one. */
    public Builder toBuilder() {
        return toBuilder(name);
    }

    Builder toBuilder(String service) {
        Builder builder = new Builder(service);
        builder.id = id;
        builder.address = address;
        builder.port = port;
        builder.sslPort = sslPort;
        builder.payload = payload.orElse(null);
        builder.registeredAt = registeredAt.orElse(null);
        builder.serviceType = serviceType;
        builder.uriSpec = uriSpec.orElse(null);
        builder.enabled = enabled;
        return builder;
    }

    /** The name of the service. */
    public String name() {
        return name;
    }

    /** What it is called among the instances of the service. */
    public String id() {
        return id;
    }

    /** The host's name or address; empty text if it tells none. */
    public String address() {
        return address;
    }

    /** Its port, if it tells one. */
    public OptionalInt port() {
        return port;
    }

    /** Its port for TLS, if it tells one. */
    public OptionalInt sslPort() {
        return sslPort;
    }

    /** What else it tells of itself: the text of a JSON value; empty for none, or for {@code null}. */
    public Optional<String> payload() {
        return payload;
    }

    /** The payload's text, if it is a JSON string. */
    public Optional<String> payloadText() {
        return payload.flatMap(JsonText::string);
    }

    /** When it was registered, by the clock of its process; empty if it is not yet, or does not tell. */
    public Optional<Instant> registeredAt() {
        return registeredAt;
    }

    /**
     * Curator's word for how long it stays: {@code DYNAMIC} or {@code DYNAMIC_SEQUENTIAL} as long as its session,
     * {@code STATIC} or {@code PERMANENT} until it is deleted. What we register is always {@code DYNAMIC}.
     */
    public String serviceType() {
        return serviceType;
    }

    /** How its URI is made, if it tells so. */
    public Optional<UriSpec> uriSpec() {
        return uriSpec;
    }

    /** Its URI, if it tells how that is made. */
    public Optional<String> uri() {
        return uriSpec.map(spec -> spec.uriOf(this));
    }

    /** Whether providers may choose it. */
    public boolean isEnabled() {
        return enabled;
    }

    /** What tells one registered process from another, however its payload changes. */
    record Identity(String id, String address, OptionalInt port, OptionalInt sslPort, Optional<Instant> registeredAt) {}

    Identity identity() {
        return new Identity(id, address, port, sslPort, registeredAt);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ServiceInstance that
                && name.equals(that.name)
                && identity().equals(that.identity())
                && payload.equals(that.payload)
                && serviceType.equals(that.serviceType)
                && uriSpec.equals(that.uriSpec)
                && enabled == that.enabled;
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, identity(), payload);
    }

    /** Name, id and where it is reached; not the payload. */
    @Override
    public String toString() {
        return "ServiceInstance[" + name + "/" + id + " at " + address
                + (port.isPresent() ? ":" + port.getAsInt() : "")
                + (sslPort.isPresent() ? ", TLS at port " + sslPort.getAsInt() : "")
                + (enabled ? "" : ", disabled") + "]";
    }

    /** Gathers the fields of an instance. Not thread-safe. */
    public static final class Builder {
        private final String name;
        private @Nullable String id;
        private String address = "";
        private OptionalInt port = OptionalInt.empty();
        private OptionalInt sslPort = OptionalInt.empty();
        private @Nullable String payload;
        private @Nullable Instant registeredAt;
        private String serviceType = DYNAMIC;
        private @Nullable UriSpec uriSpec;
        private boolean enabled = true;

        private Builder(String name) {
            this.name = Objects.requireNonNull(name, "service");
        }

        /**
         * What it is called among the instances of the service; a random UUID if not set. One that stays the same over
         * restarts has the restarted process wait until the session of the former one has ended.
         */
        public Builder id(String id) {
            this.id = Objects.requireNonNull(id, "id");
            return this;
        }

        /** The host's name or address, as others reach it. */
        public Builder address(String address) {
            this.address = Objects.requireNonNull(address, "address");
            return this;
        }

        /**
         * The port.
         *
         * @throws IllegalArgumentException if it is not between 0 and 65535
         */
        public Builder port(int port) {
            this.port = OptionalInt.of(checkedPort(port));
            return this;
        }

        /**
         * The port for TLS.
         *
         * @throws IllegalArgumentException if it is not between 0 and 65535
         */
        public Builder sslPort(int port) {
            this.sslPort = OptionalInt.of(checkedPort(port));
            return this;
        }

        private static int checkedPort(int port) {
            if (port < 0 || port > MAX_PORT) {
                throw new IllegalArgumentException("Invalid port " + port + ": it must be between 0 and " + MAX_PORT);
            }
            return port;
        }

        /**
         * The payload: the text of any JSON value; {@code null} as JSON is none.
         *
         * @throws IllegalArgumentException if it is not one JSON value
         */
        public Builder payload(String json) {
            String checked = JsonText.checked(json);
            this.payload = checked.equals("null") ? null : checked;
            return this;
        }

        /** The payload: this text, as a JSON string. */
        public Builder payloadText(String text) {
            this.payload = JsonText.quote(text);
            return this;
        }

        /** When it was registered; if not set, the time of the call that registers it. */
        public Builder registeredAt(Instant time) {
            this.registeredAt = Objects.requireNonNull(time, "time");
            return this;
        }

        Builder serviceType(String type) {
            this.serviceType = type;
            return this;
        }

        /** How its URI is made. */
        public Builder uriSpec(UriSpec spec) {
            this.uriSpec = Objects.requireNonNull(spec, "spec");
            return this;
        }

        /** Whether providers may choose it; true if not set. Curator's write this field only if they are told to. */
        public Builder enabled(boolean enabled) {
            this.enabled = enabled;
            return this;
        }

        /** The instance. */
        public ServiceInstance build() {
            return new ServiceInstance(this);
        }
    }
}
