package io.conclave.spi;

import io.conclave.node.NodePath;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * A parsed connect string: {@code scheme:path} or {@code scheme://host:port,host:port/chroot}.
 *
 * @param text the string as given
 * @param scheme in lower case
 * @param endpoints the servers; empty for the first form
 * @param path of the first form: what stands behind the colon, in the words of the backend; of the second: the chroot
 *     with its slash, or empty
 */
public record ConnectString(String text, String scheme, List<Endpoint> endpoints, String path) {
    private static final int DEFAULT_PORT = 2181;

    /** Copies the endpoints. */
    public ConnectString {
        endpoints = List.copyOf(endpoints);
    }

    /**
     * A server's address, not resolved.
     *
     * @param host a name or a literal address, without brackets; that of IPv6 may have a zone, as in
     *     {@code fe80::1%eth0}
     * @param port 1 to 65535
     */
    public record Endpoint(String host, int port) {
        @Override
        public String toString() {
            return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
        }
    }

    /**
     * Parses a connect string.
     *
     * @throws IllegalArgumentException naming the string and the rule that it breaks
     */
    public static ConnectString parse(String text) {
        Objects.requireNonNull(text, "connect string");
        int colon = text.indexOf(':');
        if (colon < 1 || !text.substring(0, colon).matches("[A-Za-z][A-Za-z0-9+.-]*")) {
            throw invalid(text, "must start with a scheme and a colon, such as embedded: or conclave://host:2181");
        }
        String scheme = text.substring(0, colon).toLowerCase(Locale.ROOT);
        String rest = text.substring(colon + 1);
        if (!rest.startsWith("//")) {
            return new ConnectString(text, scheme, List.of(), rest);
        }
        String hostsAndChroot = rest.substring(2);
        int slash = hostsAndChroot.indexOf('/');
        String hosts = slash < 0 ? hostsAndChroot : hostsAndChroot.substring(0, slash);
        String chroot = slash < 0 ? "" : hostsAndChroot.substring(slash);
        ConnectString parsed = new ConnectString(text, scheme, endpoints(text, hosts), chroot);
        parsed.chroot();
        return parsed;
    }

    /** The path under which all of the coordinator's paths lie; the root for the form without hosts. */
    public NodePath chroot() {
        if (endpoints.isEmpty() || path.isEmpty()) {
            return NodePath.ROOT;
        }
        try {
            return NodePath.of(path);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "Invalid connect string \"" + text + "\": bad chroot: " + e.getMessage(), e);
        }
    }

    private static List<Endpoint> endpoints(String text, String hosts) {
        List<Endpoint> endpoints = new ArrayList<>();
        for (String host : hosts.split(",", -1)) {
            endpoints.add(endpoint(text, host.trim()));
        }
        return endpoints;
    }

    private static Endpoint endpoint(String text, String hostAndPort) {
        String host = hostAndPort;
        String port = null;
        int bracket = hostAndPort.lastIndexOf(']');
        int colon = hostAndPort.indexOf(':', Math.max(bracket, 0));
        if (colon >= 0) {
            host = hostAndPort.substring(0, colon);
            port = hostAndPort.substring(colon + 1);
        }
        if (host.startsWith("[") && host.endsWith("]")) {
            host = withoutEscape(host.substring(1, host.length() - 1));
        }
        if (host.isEmpty() || host.chars().anyMatch(Character::isWhitespace)) {
            throw invalid(text, "a server needs a host name: \"" + hostAndPort + "\"");
        }
        return new Endpoint(host, port == null ? DEFAULT_PORT : port(text, port));
    }

    /** In a URI the percent sign before a zone is written as {@code %25} (RFC 6874). */
    private static String withoutEscape(String host) {
        int escape = host.indexOf("%25");
        boolean isEscape = escape > 0 && escape + 3 < host.length();
        return isEscape ? host.substring(0, escape) + "%" + host.substring(escape + 3) : host;
    }

    private static int port(String text, String port) {
        if (port.matches("[0-9]{1,5}")) {
            int number = Integer.parseInt(port);
            if (number >= 1 && number <= 65535) {
                return number;
            }
        }
        throw invalid(text, "a port is a number from 1 to 65535: \"" + port + "\"");
    }

    private static IllegalArgumentException invalid(String text, String rule) {
        return new IllegalArgumentException("Invalid connect string \"" + text + "\": " + rule);
    }
}
