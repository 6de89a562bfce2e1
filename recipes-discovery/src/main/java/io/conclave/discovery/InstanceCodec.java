package io.conclave.discovery;

import io.conclave.node.DataCodec;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;

/**
 * An instance as the JSON that Curator's {@code JsonInstanceSerializer} writes. Of what others have written, fields
 * that are missing or not known are accepted.
 *
 * <p>Numbers may stand in quotes as well.
 */
final class InstanceCodec implements DataCodec<ServiceInstance> {
    static final InstanceCodec JSON = new InstanceCodec();

    /** For a name or an id that is not told: the path has both. */
    static final String UNKNOWN = "";

    private InstanceCodec() {}

    @Override
    public byte[] encode(ServiceInstance instance) {
        StringBuilder json = new StringBuilder("{\"name\":").append(JsonText.quote(instance.name()));
        member(json, "id", JsonText.quote(instance.id()));
        member(json, "address", instance.address().isEmpty() ? "null" : JsonText.quote(instance.address()));
        member(json, "port", instance.port().isPresent() ? "" + instance.port().getAsInt() : "null");
        member(
                json,
                "sslPort",
                instance.sslPort().isPresent() ? "" + instance.sslPort().getAsInt() : "null");
        member(json, "payload", instance.payload().orElse("null"));
        long time = instance.registeredAt().map(Instant::toEpochMilli).orElse(0L);
        member(json, "registrationTimeUTC", Long.toString(time));
        member(json, "serviceType", JsonText.quote(instance.serviceType()));
        member(json, "uriSpec", instance.uriSpec().map(InstanceCodec::json).orElse("null"));
        if (!instance.isEnabled()) {
            member(json, "enabled", "false"); // Curator before 4.0 refuses the field, so it is written if needed only
        }
        return TEXT.encode(json.append('}').toString());
    }

    private static void member(StringBuilder json, String name, String value) {
        json.append(",\"").append(name).append("\":").append(value);
    }

    private static String json(UriSpec spec) {
        return spec.parts().stream()
                .map(part -> "{\"value\":" + JsonText.quote(part.value()) + ",\"variable\":" + part.isVariable() + "}")
                .collect(Collectors.joining(",", "{\"parts\":[", "]}"));
    }

    @Override
    public ServiceInstance decode(byte[] data) {
        Map<String, String> fields = JsonText.members(TEXT.decode(data));
        ServiceInstance.Builder builder =
                ServiceInstance.named(string(fields, "name").orElse(UNKNOWN));
        builder.id(string(fields, "id").orElse(UNKNOWN));
        string(fields, "address").ifPresent(builder::address);
        port(fields, "port", builder::port);
        port(fields, "sslPort", builder::sslPort);
        field(fields, "payload").ifPresent(builder::payload);
        number(fields, "registrationTimeUTC")
                .filter(millis -> millis != 0)
                .ifPresent(millis -> builder.registeredAt(Instant.ofEpochMilli(millis)));
        string(fields, "serviceType").ifPresent(builder::serviceType);
        field(fields, "uriSpec").ifPresent(spec -> builder.uriSpec(uriSpec(spec)));
        field(fields, "enabled").ifPresent(value -> builder.enabled(isTrue(value)));
        return builder.build();
    }

    private static UriSpec uriSpec(String spec) {
        String parts = JsonText.members(spec).getOrDefault("parts", "[]");
        List<String> elements = parts.equals("null") ? List.of() : JsonText.elements(parts);
        return new UriSpec(elements.stream().map(InstanceCodec::part).toList());
    }

    private static UriSpec.Part part(String part) {
        Map<String, String> fields = JsonText.members(part);
        return new UriSpec.Part(
                string(fields, "value").orElse(""),
                field(fields, "variable").filter(InstanceCodec::isTrue).isPresent());
    }

    private static Optional<String> field(Map<String, String> fields, String name) {
        return Optional.ofNullable(fields.get(name)).filter(value -> !value.equals("null"));
    }

    private static boolean isTrue(String value) {
        return JsonText.string(value).orElse(value).equals("true");
    }

    private static Optional<String> string(Map<String, String> fields, String name) {
        return field(fields, name).map(value -> JsonText.string(value).orElse(value));
    }

    private static void port(Map<String, String> fields, String name, IntConsumer consumer) {
        number(fields, name).ifPresent(port -> consumer.accept((int) Math.max(-1, Math.min(Integer.MAX_VALUE, port))));
    }

    private static Optional<Long> number(Map<String, String> fields, String name) {
        Optional<String> text = string(fields, name);
        try {
            return text.map(Long::parseLong);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "Invalid " + name + " " + text.orElse("") + ": it must be a whole number", e);
        }
    }
}
