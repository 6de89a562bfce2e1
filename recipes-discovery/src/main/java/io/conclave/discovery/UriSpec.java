package io.conclave.discovery;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * How the URI of an instance is made of its fields: text with variables in braces, as Curator's {@code UriSpec} has it.
 *
 * <pre>{@code
 * UriSpec.of("{scheme}://{address}:{port}/orders").uriOf(instance); // "http://10.0.0.5:8080/orders"
 * }</pre>
 *
 * <p>The variables are {@code scheme} ({@code https} if the instance has a port for TLS, else {@code http}),
 * {@code name}, {@code id}, {@code address}, {@code port}, {@code ssl-port}, {@code registration-time-utc},
 * {@code service-type}, and {@code [} and {@code ]} for the braces themselves. A variable that is not known or has no
 * value is left out.
 *
 * @param parts what the URI is put together of, in order
 */
public record UriSpec(List<Part> parts) {
    /**
     * A piece of the URI.
     *
     * @param value the text, or the name of a variable
     * @param isVariable whether it is the name of a variable
     */
    public record Part(String value, boolean isVariable) {
        /** Rejects nulls. */
        public Part {
            Objects.requireNonNull(value, "value");
        }
    }

    /** Copies the parts. */
    public UriSpec {
        parts = List.copyOf(parts);
    }

    /**
     * The specification that a template gives.
     *
     * @throws IllegalArgumentException if braces are not closed, or stand in each other
     */
    public static UriSpec of(String template) {
        List<Part> parts = new ArrayList<>();
        int at = 0;
        while (at < template.length()) {
            int open = template.indexOf('{', at);
            String text = template.substring(at, open < 0 ? template.length() : open);
            if (text.indexOf('}') >= 0) {
                throw new IllegalArgumentException("Invalid URI template \"" + template + "\": } without {");
            }
            if (!text.isEmpty()) {
                parts.add(new Part(text, false));
            }
            if (open < 0) {
                break;
            }
            int close = template.indexOf('}', open);
            String name = close < 0 ? "" : template.substring(open + 1, close);
            if (name.isBlank() || name.indexOf('{') >= 0) {
                throw new IllegalArgumentException("Invalid URI template \"" + template
                        + "\": each { needs a name of a variable and } before the next {");
            }
            parts.add(new Part(name.strip(), true));
            at = close + 1;
        }
        return new UriSpec(parts);
    }

    /** The URI of an instance, as text. */
    public String uriOf(ServiceInstance instance) {
        return parts.stream()
                .map(part -> part.isVariable() ? valueOf(part.value(), instance) : part.value())
                .collect(Collectors.joining());
    }

    private static String valueOf(String variable, ServiceInstance instance) {
        return switch (variable) {
            case "scheme" -> instance.sslPort().isPresent() ? "https" : "http";
            case "name" -> instance.name();
            case "id" -> instance.id();
            case "address" -> instance.address();
            case "port" -> text(instance.port());
            case "ssl-port" -> text(instance.sslPort());
            case "registration-time-utc" ->
                Long.toString(instance.registeredAt().map(Instant::toEpochMilli).orElse(0L));
            case "service-type" -> instance.serviceType().toLowerCase(Locale.ROOT);
            case "[" -> "{";
            case "]" -> "}";
            default -> "";
        };
    }

    private static String text(OptionalInt port) {
        return port.isPresent() ? Integer.toString(port.getAsInt()) : "";
    }
}
