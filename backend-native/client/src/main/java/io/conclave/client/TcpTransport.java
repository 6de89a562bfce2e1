package io.conclave.client;

import io.conclave.session.TlsOptions;
import io.conclave.spi.ConnectString.Endpoint;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects over TCP, with native epoll where it is there, else NIO.
 *
 * <p>A name is resolved again at every attempt, on a thread of its own, because resolving blocks; an attempt goes
 * through the name's addresses in random order until one accepts, those that the session has tried before last. Each
 * has its share of the attempt's time, so that one that does not answer leaves time for the others. With TLS that
 * thread also looks whether the files of certificates have changed.
 */
final class TcpTransport implements ClientTransport {
    private static final Logger LOG = LoggerFactory.getLogger(TcpTransport.class);
    private static final int MAX_LOOPS = 4;
    private static final int MAX_RESOLVER_THREADS = 8;
    private static final int RESOLVER_IDLE_S = 10;
    private static final int SHUTDOWN_MS = 2000;
    private static final int SHORTEST_SHARE_MS = 250;

    /** An address that has not accepted by then is taken for dead where there are others. */
    private static final int LONGEST_SHARE_MS = 4_000;

    private final List<Endpoint> endpoints;
    private final boolean followsEnsemble;
    private volatile List<Server> servers;
    private final EventLoopGroup loops;
    private final Class<? extends Channel> channelClass;
    private final ThreadPoolExecutor resolver;
    private final Optional<ClientTlsContext> tls;
    private final NameService names;

    /** Says what addresses a name has. */
    interface NameService {
        InetAddress[] addressesOf(String host) throws UnknownHostException;
    }

    /** @throws io.conclave.error.ConnectException if the files of the TLS options cannot be used */
    TcpTransport(List<Endpoint> endpoints, boolean followsEnsemble, Optional<TlsOptions> options) {
        this(endpoints, followsEnsemble, options, InetAddress::getAllByName);
    }

    TcpTransport(List<Endpoint> endpoints, boolean followsEnsemble, Optional<TlsOptions> options, NameService names) {
        this.endpoints = endpoints;
        this.names = names;
        // A single address may be that of a proxy or a balancer, which must not be bypassed.
        // The ensemble names its ports without TLS.
        this.followsEnsemble = followsEnsemble && endpoints.size() > 1 && options.isEmpty();
        this.servers = List.copyOf(serversAt(endpoints));
        resolver = new ThreadPoolExecutor(
                0,
                MAX_RESOLVER_THREADS,
                RESOLVER_IDLE_S,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                new DefaultThreadFactory("conclave-resolver", true));
        tls = options.map(found -> new ClientTlsContext(found, resolver));
        boolean epoll = Epoll.isAvailable();
        channelClass = epoll ? EpollSocketChannel.class : NioSocketChannel.class;
        int threads = Math.min(MAX_LOOPS, Runtime.getRuntime().availableProcessors());
        loops = loops(epoll, threads, new DefaultThreadFactory("conclave-client", true));
    }

    @SuppressWarnings("deprecation") // Netty 4.1 has no other event loops, and 4.2 keeps these
    private static EventLoopGroup loops(boolean epoll, int threads, ThreadFactory factory) {
        return epoll ? new EpollEventLoopGroup(threads, factory) : new NioEventLoopGroup(threads, factory);
    }

    private List<Server> serversAt(Collection<Endpoint> addresses) {
        return addresses.stream().<Server>map(TcpServer::new).toList();
    }

    private final class TcpServer implements Server {
        private final Endpoint endpoint;

        TcpServer(Endpoint endpoint) {
            this.endpoint = endpoint;
        }

        @Override
        public void connect(EventLoop loop, Connection connection, Duration bound, TriedAddresses tried) {
            new Attempt(loop, endpoint, connection, bound, tried).begin();
        }

        @Override
        public boolean isLearned() {
            return !endpoints.contains(endpoint);
        }

        @Override
        public String toString() {
            return endpoint.toString();
        }
    }

    @Override
    public List<Server> servers() {
        return servers;
    }

    @Override
    public boolean followsEnsemble() {
        return followsEnsemble;
    }

    /** Those of the connect string stay: an operator who changes them changes the connect string. */
    @Override
    public synchronized void learned(List<Endpoint> members) {
        Set<Endpoint> all = new LinkedHashSet<>(endpoints);
        boolean onThisMachine = endpoints.stream().anyMatch(TcpTransport::isLoopback);
        members.stream()
                .filter(member -> onThisMachine || !isLoopback(member)) // a member's own machine is not the client's
                .sorted(Comparator.comparing(Endpoint::toString))
                .forEach(all::add);
        List<Server> known = servers;
        if (!all.stream()
                .map(Endpoint::toString)
                .toList()
                .equals(known.stream().map(Object::toString).toList())) {
            servers = serversAt(all);
            LOG.info("{}: the ensemble's members serve clients at {}", this, members);
        }
    }

    private static boolean isLoopback(Endpoint endpoint) {
        String host = endpoint.host();
        return host.equalsIgnoreCase("localhost") || host.startsWith("127.") || host.equals("::1");
    }

    @Override
    public EventLoop nextLoop() {
        return loops.next();
    }

    /** One attempt to connect to a server: to one address of its name after the other. */
    private final class Attempt {
        private final EventLoop loop;
        private final Endpoint endpoint;
        private final Connection connection;
        private final Duration bound;
        private final TriedAddresses tried;

        Attempt(EventLoop loop, Endpoint endpoint, Connection connection, Duration bound, TriedAddresses tried) {
            this.loop = loop;
            this.endpoint = endpoint;
            this.connection = connection;
            this.bound = bound;
            this.tried = tried;
        }

        void begin() {
            byte[] literal = NetUtil.createByteArrayFromIpAddressString(endpoint.host());
            boolean hasZone = endpoint.host().indexOf('%') >= 0; // which the bytes have not
            if (literal != null && !hasZone && tls.isEmpty()) {
                connect(List.of(addressOf(endpoint, literal)), null);
                return;
            }
            try {
                resolver.execute(this::resolve);
            } catch (RejectedExecutionException e) {
                connection.connectFailed(new IOException(
                        "cannot resolve " + endpoint.host() + ": the resolver is closed or " + MAX_RESOLVER_THREADS
                                + " look-ups hang",
                        e));
            }
        }

        private void resolve() {
            tls.ifPresent(ClientTlsContext::reloadIfChanged);
            List<InetSocketAddress> addresses = new ArrayList<>();
            IOException failure = null;
            try {
                for (InetAddress address : names.addressesOf(endpoint.host())) {
                    addresses.add(new InetSocketAddress(address, endpoint.port()));
                }
                Collections.shuffle(addresses);
            } catch (UnknownHostException e) {
                failure = new IOException("unknown host " + endpoint.host(), e);
            }
            IOException unresolved = failure;
            try {
                loop.execute(() -> connect(addresses, unresolved));
            } catch (RejectedExecutionException e) {
                // The backend was closed meanwhile; no session waits for the connection.
                resolver.shutdown();
            }
        }

        private void connect(List<InetSocketAddress> addresses, @Nullable Throwable failure) {
            long share = bound.toMillis() / Math.max(1, addresses.size());
            long longest = addresses.size() > 1 ? LONGEST_SHARE_MS : Integer.MAX_VALUE;
            int shareMs = (int) Math.max(SHORTEST_SHARE_MS, Math.min(longest, share));
            connectNext(new ArrayDeque<>(tried.lastTriedLast(addresses)), shareMs, failure);
        }

        private void connectNext(Queue<InetSocketAddress> addresses, int shareMs, @Nullable Throwable failure) {
            InetSocketAddress address = addresses.poll();
            if (connection.isShut()) {
                return;
            }
            if (address == null) {
                connection.connectFailed(failure == null ? new IOException("no address") : failure);
                return;
            }
            tried.add(address);
            new Bootstrap()
                    .group(loop)
                    .channel(channelClass)
                    .option(ChannelOption.TCP_NODELAY, true)
                    .option(ChannelOption.SO_KEEPALIVE, true)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, shareMs)
                    .handler(tls.<ChannelHandler>map(found -> found.opening(endpoint, connection))
                            .orElseGet(() -> new PlainOpening(connection)))
                    .connect(address)
                    .addListener(done -> {
                        if (!done.isSuccess()) {
                            connectNext(addresses, shareMs, done.cause());
                        }
                    });
        }
    }

    private static InetSocketAddress addressOf(Endpoint endpoint, byte[] literal) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(literal), endpoint.port());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("not an address: " + endpoint, e);
        }
    }

    @Override
    public void close() {
        resolver.shutdownNow();
        loops.shutdownGracefully(0, SHUTDOWN_MS, TimeUnit.MILLISECONDS).awaitUninterruptibly(SHUTDOWN_MS);
    }

    @Override
    public String toString() {
        return endpoints.stream().map(Endpoint::toString).collect(Collectors.joining(","));
    }
}
