package io.conclave.connection;

import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.PersistentSet;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.SessionRecord;
import io.conclave.tree.TreeState;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** One event loop of a server without a log, for tests of single connections. */
final class LoneLoop implements AutoCloseable {
    final ManualTimeSource time = new ManualTimeSource();

    /** What is to wait for its sockets waits for the next move of the clock. */
    private final DefaultEventLoop eventLoop = new DefaultEventLoop() {
        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            time.schedule(Duration.of(delay, unit.toChronoUnit()), task);
            return super.schedule(() -> {}, delay, unit);
        }
    };

    /** What was given to the log, which does nothing with it. */
    final List<Proposal> proposed = new ArrayList<>();

    /** What finds room in the log. */
    volatile Predicate<Proposal> takes = proposal -> true;

    /** The answer to an operator that raises the feature level. */
    final CompletableFuture<String> raised = new CompletableFuture<>();

    final Feed feed = new Feed(1, () -> {});
    final Loop loop = new Loop(eventLoop, log(), time, feed);
    final LimitGuard guard;
    final SessionCounts sessionCounts;
    final LargeRequests largeRequests;
    final ArrivingRequests arriving;

    static final int SESSION_TIMEOUT_MS = 3_000;

    LoneLoop() {
        this(ClientLimits.defaults());
    }

    LoneLoop(ClientLimits limits) {
        guard = new LimitGuard(limits, time);
        sessionCounts = new SessionCounts(guard, time);
        largeRequests = new LargeRequests(limits.most(ClientLimit.LARGE_REQUESTS_BYTES));
        arriving = new ArrivingRequests(limits.most(ClientLimit.ARRIVING_BYTES), time);
    }

    /** Has the connection go on with a session of this number. */
    static void open(ClientConnection connection, long sessionId) {
        connection.attaching();
        connection.attached(new SessionRecord(
                sessionId,
                SessionPassword.of(new byte[SessionPassword.BYTES]),
                SESSION_TIMEOUT_MS,
                1,
                0,
                PersistentSet.empty()));
    }

    /** Something that fails the test when it is called. */
    static <T> T unused(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                LoneLoop.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    throw new UnsupportedOperationException(method.getName());
                }));
    }

    private ReplicatedLog log() {
        return (ReplicatedLog) Proxy.newProxyInstance(
                LoneLoop.class.getClassLoader(), new Class<?>[] {ReplicatedLog.class}, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "propose":
                            Proposal proposal = (Proposal) arguments[0];
                            return takes.test(proposal) && proposed.add(proposal);
                        case "status":
                            return LogStatus.idle(1, LogRole.LEADING);
                        default:
                            throw new UnsupportedOperationException(method.getName());
                    }
                });
    }

    ConnectionReader reader(long maxUnreadBytes, SessionLeases leases) {
        return reader(new EmbeddedChannel(), maxUnreadBytes, leases);
    }

    ConnectionReader reader(EmbeddedChannel channel, long maxUnreadBytes, SessionLeases leases) {
        return reader(channel, maxUnreadBytes, leases, CommandWords.NONE);
    }

    ConnectionReader reader(EmbeddedChannel channel, long maxUnreadBytes, SessionLeases leases, CommandWords words) {
        ClientLimits limits = guard.limits().with(ClientLimit.UNREAD_BYTES_OF_CONNECTION, maxUnreadBytes);
        return reader(channel, leases, words, new UnreadBytes(new LimitGuard(limits, time), time));
    }

    ConnectionReader reader(EmbeddedChannel channel, SessionLeases leases, CommandWords words, UnreadBytes unread) {
        ConnectionServices services = new ConnectionServices(
                new ConnectionLimits(0, 0, 100, 60_000, 2000),
                guard,
                sessionCounts,
                largeRequests,
                arriving,
                unread,
                leases,
                new SessionIds(1, new Random(1)),
                () -> TreeState.OF_NO_CLUSTER,
                ClientSecurity.NONE,
                words,
                (changes, asker) -> {},
                () -> raised,
                () -> false,
                time);
        return new ConnectionReader(channel, loop, services, List.of());
    }

    /** Waits until the loop has done what it does now, and has flushed, as it does at the end of its turn. */
    void finishTask() {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        loop.post(() -> {
            loop.flush();
            done.complete(true);
        });
        done.join();
    }

    @Override
    public void close() {
        eventLoop.shutdownGracefully();
    }
}
