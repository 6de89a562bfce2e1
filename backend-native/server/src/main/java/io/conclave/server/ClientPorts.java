package io.conclave.server;

import io.conclave.connection.ConnectionAcceptor;
import io.conclave.connection.PortSecurity;
import io.conclave.consensus.CallersHandshakes;
import io.conclave.tls.TlsContext;
import io.conclave.tls.TlsException;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.local.LocalAddress;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Where clients of a server connect: inside the JVM, or at a TCP port and one with TLS. */
final class ClientPorts {
    private final ServerConfig config;
    private final Optional<TlsContext> tls;
    private volatile List<Channel> listening = List.of();

    /**
     * Reads the certificates. Blocks.
     *
     * @param handshakes computes those of TLS
     * @throws ServerStartException if they cannot be used
     */
    ClientPorts(ServerConfig config, CallersHandshakes handshakes) {
        this.config = config;
        try {
            this.tls = config.clientTls().map(found -> TlsContext.forServerByAddress(found.settings(), handshakes::of));
        } catch (TlsException e) {
            throw new ServerStartException("TLS for clients: " + e.getMessage(), e);
        }
    }

    /**
     * Listens. Blocks until it does.
     *
     * @throws ServerStartException if a port cannot be opened
     */
    void open(ServerTransport transport, ConnectionAcceptor acceptor) {
        List<Channel> open = new ArrayList<>();
        if (config.clientPort().isEmpty()) {
            SocketAddress address = new LocalAddress("conclave-" + UUID.randomUUID());
            open.add(transport.listen(address, acceptor.childHandler()));
        } else {
            boolean unified = config.clientTls().filter(ClientTls::unified).isPresent();
            PortSecurity security = unified ? security(true) : PortSecurity.PLAIN;
            SocketAddress address =
                    address(config.clientPortAddress(), config.clientPort().get());
            open.add(transport.listen(address, acceptor.childHandler(security)));
        }
        listening = List.copyOf(open);
        config.clientTls().ifPresent(found -> found.port().ifPresent(port -> {
            open.add(transport.listen(address(found.address(), port), acceptor.childHandler(security(false))));
            listening = List.copyOf(open);
        }));
    }

    private PortSecurity security(boolean takesPlain) {
        return new PortSecurity(tls, takesPlain, config.clientTls().flatMap(ClientTls::superUser));
    }

    private static SocketAddress address(Optional<String> host, int port) {
        return host.map(name -> new InetSocketAddress(name, port)).orElseGet(() -> new InetSocketAddress(port));
    }

    /** What is read again when its files change; empty without TLS, or if it is read once. */
    Optional<TlsContext> reloadable() {
        return config.clientTls().filter(ClientTls::reloads).isPresent() ? tls : Optional.empty();
    }

    /** Where clients connect without TLS, or with either if the port is for both. */
    SocketAddress address() {
        List<Channel> channels = listening;
        if (channels.isEmpty()) {
            throw new IllegalStateException("the server does not listen");
        }
        return channels.get(0).localAddress();
    }

    /** The port with TLS only. */
    Optional<Integer> securePort() {
        List<Channel> channels = listening;
        return channels.size() > 1 && channels.get(1).localAddress() instanceof InetSocketAddress tcp
                ? Optional.of(tcp.getPort())
                : Optional.empty();
    }

    /** Takes no more connections; those that are up stay. */
    List<ChannelFuture> beginClosing() {
        return listening.stream().map(Channel::close).toList();
    }

    void close() {
        beginClosing().forEach(Future::awaitUninterruptibly);
    }

    @Override
    public String toString() {
        return address()
                + securePort().map(port -> ", with TLS on port " + port).orElse("");
    }
}
