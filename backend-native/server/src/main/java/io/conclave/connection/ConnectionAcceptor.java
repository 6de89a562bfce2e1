package io.conclave.connection;

import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.Step;
import io.conclave.replica.StepListener;
import io.conclave.time.TimeSource;
import io.conclave.tree.AuthId;
import io.conclave.tree.IdScheme;
import io.conclave.tree.Result;
import io.conclave.tree.TreeState;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Gives every accepted channel its {@link ConnectionReader}, within the bounds. Thread-safe. */
public final class ConnectionAcceptor implements StepListener {
    private final ConnectionServices services;
    private final Feed feed;
    private final ConnectionCounts counts;
    private final Refusals refused;
    private final Audit audit;
    private final PortEntry entry;
    private final Map<EventLoop, Loop> loops = new LinkedHashMap<>();
    /** Loops that a batch has something for; the log's thread only. */
    private final Set<Loop> concerned = new HashSet<>();

    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    /**
     * An acceptor for the channels of some event loops.
     *
     * @param log takes what the connections propose
     */
    public ConnectionAcceptor(EventLoopGroup group, ReplicatedLog log, TimeSource time, ConnectionServices services) {
        this.services = services;
        this.counts = new ConnectionCounts(services.limits());
        this.refused = Refusals.ofConnections(time);
        this.audit = new Audit(services.security().audit());
        this.entry = new PortEntry(time, services.security().offersSchemes());
        List<EventExecutor> executors = new ArrayList<>();
        group.forEach(executors::add);
        this.feed = new Feed(executors.size());
        for (EventExecutor executor : executors) {
            EventLoop eventLoop = (EventLoop) executor;
            loops.put(eventLoop, new Loop(eventLoop, log, time, feed));
        }
    }

    @Override
    public void began(TreeState state) {
        services.sessionCounts().began(state);
        feed.forAll(loop -> loop.begin(state));
        wakeAll();
    }

    @Override
    public void dropped() {
        feed.forAll(Loop::drop);
        wakeAll();
    }

    @Override
    public void applied(List<Step> steps) {
        steps.forEach(services.sessionCounts()::applied);
        feed.batch(steps);
        concerned.clear();
        boolean all = false;
        for (Step step : steps) {
            if (step.applied().result() instanceof Result.SessionClosed closed) {
                audit.sessionEnded(closed.sessionId(), step.applied().events());
            }
            if (step.origin() instanceof ConnectionProposal proposal) {
                concerned.add(proposal.loop());
            }
            all |= step.applied().result() instanceof Result.SessionAttached
                    || step.applied().result() instanceof Result.SessionClosed;
        }
        for (Loop loop : loops.values()) {
            loop.told(steps.size(), all || concerned.contains(loop));
        }
    }

    /** What clients are served behind everything applied so far; nothing at first. On the log's thread. */
    public void serve(ServiceMode mode) {
        feed.forAll(loop -> loop.connections().serve(mode));
        wakeAll();
    }

    /**
     * Serves no more than this from now on, also if more is granted, until another bound is set. From any thread, also
     * while the log's thread stands still.
     */
    public void serveAtMost(ServiceMode mode) {
        loops.values().forEach(loop -> loop.post(() -> loop.connections().serveAtMost(mode)));
    }

    /**
     * What the connections are doing and have done, in sums; gathered from loop to loop, at a cost that does not depend
     * on how many there are. From any thread, without blocking.
     */
    public CompletionStage<ConnectionTotals> totals() {
        return fromAllLoops(
                loop -> loop.counters()
                        .totals(
                                loop.connections().all().size(),
                                loop.watches().watchCount(),
                                loop.turns().totals()),
                ConnectionTotals.NONE,
                ConnectionTotals::plus);
    }

    /** From any thread, without blocking. */
    public TlsCounts tls() {
        return entry.counts();
    }

    /** One of each connection; gathered from loop to loop. From any thread, without blocking. */
    public CompletionStage<List<ConnectionReport>> reports() {
        return fromAllLoops(
                loop -> loop.connections().all().stream()
                        .map(ClientConnection::report)
                        .toList(),
                List.of(),
                ConnectionAcceptor::joined);
    }

    private static List<ConnectionReport> joined(List<ConnectionReport> some, List<ConnectionReport> others) {
        List<ConnectionReport> all = new ArrayList<>(some);
        all.addAll(others);
        return all;
    }

    /**
     * The paths that each session watches here, but for those of which it watches the list of children only, in no
     * order. From any thread, without blocking; completes on a loop.
     */
    public CompletionStage<Map<Long, List<String>>> watches() {
        CompletionStage<Map<Long, List<String>>> all = CompletableFuture.completedStage(new HashMap<>());
        for (Loop loop : loops.values()) {
            all = all.thenCombine(WatchListing.of(loop, services.time()), (some, others) -> {
                some.putAll(others);
                return some;
            });
        }
        return all;
    }

    /** Counts requests, replies and latencies from now on. From any thread, without blocking. */
    public CompletionStage<Boolean> resetTotals() {
        return fromAllLoops(
                loop -> {
                    loop.counters().reset();
                    loop.turns().reset();
                    return true;
                },
                true,
                Boolean::logicalAnd);
    }

    /** The same for what each connection counts for itself. */
    public CompletionStage<Boolean> resetReports() {
        return fromAllLoops(
                loop -> {
                    loop.connections()
                            .forEach(connection -> connection.statistics().reset());
                    return true;
                },
                true,
                Boolean::logicalAnd);
    }

    private <T> CompletionStage<T> fromAllLoops(Function<Loop, T> ofLoop, T none, BinaryOperator<T> plus) {
        CompletableFuture<T> all = CompletableFuture.completedFuture(none);
        for (Loop loop : loops.values()) {
            all = all.thenCombine(CompletableFuture.supplyAsync(() -> ofLoop.apply(loop), loop::post), plus);
        }
        return all;
    }

    private void wakeAll() {
        loops.values().forEach(Loop::wake);
    }

    /** The handler for the children of a server channel whose event loops are this acceptor's. */
    public ChannelHandler childHandler() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                accept(channel);
            }
        };
    }

    /** As {@link #childHandler()}, for a TCP port, where clients may speak TLS. */
    public ChannelHandler childHandler(PortSecurity security) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                accept(channel).ifPresent(connection -> entry.guard(channel, connection, security));
            }
        };
    }

    /** Empty if it was refused. */
    private Optional<ClientConnection> accept(Channel channel) {
        InetAddress address = channel.remoteAddress() instanceof InetSocketAddress socket ? socket.getAddress() : null;
        if (!counts.enter(address)) {
            refused.add(
                    address,
                    "there are too many from this address or its network (maxClientCnxns), or in all (maxCnxns)");
            channel.close();
            return Optional.empty();
        }
        channel.closeFuture().addListener(closed -> counts.leave(address));
        channels.add(channel);
        Loop loop = loops.get(channel.eventLoop());
        if (loop == null) {
            throw new IllegalStateException("the channel's event loop is not one of this acceptor's");
        }
        ConnectionReader reader = new ConnectionReader(channel, loop, services, idsOf(address));
        channel.pipeline().addLast(reader);
        return Optional.of(reader.connection());
    }

    private static List<AuthId> idsOf(@Nullable InetAddress address) {
        return address == null ? List.of() : List.of(new AuthId(IdScheme.IP.word(), address.getHostAddress()));
    }

    /** How many connections there are now. */
    public int connectionCount() {
        return counts.total();
    }

    /**
     * Asks the clients that can to go to another server, while everything goes on being answered; takes in no new ones.
     *
     * @return completes on any thread when the clients that were asked have gone
     */
    public CompletionStage<@Nullable Void> sayGoodbye() {
        CompletableFuture<?>[] parts = loops.values().stream()
                .map(loop -> {
                    CompletableFuture<@Nullable Void> answered = new CompletableFuture<>();
                    loop.post(() -> loop.goodbye().say(answered));
                    return answered;
                })
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(parts);
    }

    /**
     * Reads nothing more from anybody, answers what was read, and closes.
     *
     * @return completes on any thread when all connections are closed
     */
    public CompletionStage<@Nullable Void> finish() {
        CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();
        for (Loop loop : loops.values()) {
            loop.post(() -> loop.connections().forEach(ClientConnection::finish));
        }
        channels.newCloseFuture().addListener(all -> closed.complete(null));
        return closed;
    }

    /** Closes all connections; sessions stay. Blocks until they are closed; not to be called on an event loop. */
    public void closeAll() {
        beginClosing().awaitUninterruptibly();
    }

    /**
     * Has every event loop close its connections, all of them before anything else that it does; done when they are
     * closed. From any thread.
     */
    public Future<?> beginClosing() {
        loops.keySet().forEach(loop -> loop.execute(() -> closeThoseOf(loop)));
        return channels.close();
    }

    private void closeThoseOf(EventLoop loop) {
        for (Channel channel : channels) {
            if (channel.eventLoop() == loop) {
                channel.close();
            }
        }
    }
}
