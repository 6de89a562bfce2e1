package io.conclave.client;

import io.conclave.spi.ConnectString.Endpoint;
import io.conclave.spi.Elapsed;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Asks the ensemble where its members serve clients, with each new connection and then once a minute, so that a session
 * outlives the replacement of every server that its connect string names. It reads and does not watch: on ZooKeeper 3.6
 * to 3.8 a path has one watch mode, and the application may watch it. Owned by the session's event loop.
 */
final class EnsembleFollower {
    /** Where ZooKeeper, from 3.5 on, and servers of ours say who belongs to the ensemble. */
    static final String PATH = "/zookeeper/config";

    private static final Duration INTERVAL = Duration.ofMinutes(1);
    private static final Pattern MEMBER = Pattern.compile(
            "server\\.\\d+=(?<host>\\[[^]]+]|[^:;\\[]+):[^;]*;(?:(?<client>\\[[^]]+]|[^:\\[]+):)?(?<port>\\d{1,5})");
    private static final Pattern ANY_ADDRESS = Pattern.compile("0\\.0\\.0\\.0|::|0:0:0:0:0:0:0:0");

    private final SessionParts session;
    private final ClientTransport transport;
    private @Nullable Elapsed asked;

    EnsembleFollower(SessionParts session, ClientTransport transport) {
        this.session = session;
        this.transport = transport;
    }

    /** Asks over a connection that was just made; flush follows. */
    void ask(Connection connection) {
        if (transport.followsEnsemble()) {
            asked = session.clock().mark();
            connection.send(new EnsembleExchange(session.errors(), this));
        }
    }

    /** Asks again if the last answer is old. */
    void askIfOld(@Nullable Connection connection) {
        Elapsed last = asked;
        if (connection != null && last != null && last.nanos() >= INTERVAL.toNanos()) {
            ask(connection);
            connection.flush();
        }
    }

    /** An answer: the data of {@value #PATH}. Members that say nothing of clients are left out. */
    void onMembers(byte[] data) {
        List<Endpoint> members = parse(new String(data, StandardCharsets.UTF_8));
        if (!members.isEmpty()) {
            transport.learned(members);
        }
    }

    /** The addresses for clients in lines {@code server.N=host:port:port[:role];[clientHost:]clientPort}. */
    static List<Endpoint> parse(String config) {
        List<Endpoint> members = new ArrayList<>();
        for (String line : config.split("\n", -1)) {
            Matcher member = MEMBER.matcher(line.trim());
            if (member.matches()) {
                String client = member.group("client");
                String host = unbracketed(client == null || isAny(client) ? member.group("host") : client);
                int port = Integer.parseInt(member.group("port"));
                // "Every address" of a member is the client's own machine here, where another ensemble may be.
                if (!isAny(host) && port > 0 && port <= 0xffff) {
                    members.add(new Endpoint(host, port));
                }
            }
        }
        return members;
    }

    private static boolean isAny(String host) {
        return ANY_ADDRESS.matcher(unbracketed(host)).matches();
    }

    private static String unbracketed(String host) {
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }
}
