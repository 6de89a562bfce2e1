package io.conclave.connection;

import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.Step;
import io.conclave.replica.StepListener;
import io.conclave.time.TimeSource;
import io.conclave.tree.Result;
import io.conclave.tree.TreeState;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BinaryOperator;
import java.util.function.Function;

/**
 * The event loops of a server. What the log applies comes here, on the log's thread, and goes on to all loops in one
 * list, the {@link Feed}. What is asked of all connections is gathered from loop to loop.
 */
public final class Loops implements StepListener {
    private final ConnectionServices services;
    private final Audit audit;
    private final Feed feed;
    private final Map<EventLoop, Loop> loops = new LinkedHashMap<>();

    /** Loops that a batch has something for; the log's thread only. */
    private final Set<Loop> concerned = new HashSet<>();

    Loops(EventLoopGroup group, ReplicatedLog log, TimeSource time, ConnectionServices services) {
        this.services = services;
        this.audit = new Audit(services.security().audit());
        List<EventExecutor> executors = new ArrayList<>();
        group.forEach(executors::add);
        this.feed = new Feed(executors.size(), this::wakeAll);
        for (EventExecutor executor : executors) {
            EventLoop eventLoop = (EventLoop) executor;
            loops.put(eventLoop, new Loop(eventLoop, log, time, feed));
        }
    }

    Collection<Loop> all() {
        return loops.values();
    }

    Collection<EventLoop> eventLoops() {
        return loops.keySet();
    }

    Loop of(EventLoop eventLoop) {
        Loop loop = loops.get(eventLoop);
        if (loop == null) {
            throw new IllegalStateException("the channel's event loop is not one of this server's");
        }
        return loop;
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

    /** One of each connection; gathered from loop to loop. From any thread, without blocking. */
    public CompletionStage<List<ConnectionReport>> reports() {
        return fromAllLoops(
                loop -> loop.connections().all().stream()
                        .map(ClientConnection::report)
                        .toList(),
                List.of(),
                Loops::joined);
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
}
