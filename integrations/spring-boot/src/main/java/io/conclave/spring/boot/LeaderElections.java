package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.election.Leadership;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;

/**
 * The elections in which this application is a candidate: those of {@link LeaderOnly} methods and of {@code
 * conclave.elections}. Thread-safe.
 *
 * <p>It starts after the web server, and stops before it: the leadership of an application that stops ends first, while
 * all that its work needs is still there.
 */
public final class LeaderElections implements SmartLifecycle, DisposableBean {
    /** The phase of its life: higher ones start later, and stop earlier. */
    public static final int PHASE = Integer.MAX_VALUE - 1000;

    private static final long LOOK_MS = 100;

    private final Coordinator coordinator;
    private final ApplicationEventPublisher events;
    private final Supplier<Collection<NodePath>> paths;
    private final Map<NodePath, LedElection> elections = new ConcurrentHashMap<>();
    private final Object lock = new Object();
    private boolean running; // guarded by lock

    /** @param paths the elections of methods that are known when it starts */
    LeaderElections(Coordinator coordinator, ApplicationEventPublisher events, Supplier<Collection<NodePath>> paths) {
        this.coordinator = coordinator;
        this.events = events;
        this.paths = paths;
    }

    /**
     * Makes this application a candidate of an election, now or when it has started, until it stops. Never blocks;
     * idempotent.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public void join(String path) {
        join(NodePath.of(path));
    }

    LedElection join(NodePath path) {
        synchronized (lock) {
            LedElection election =
                    elections.computeIfAbsent(path, key -> new LedElection(this, coordinator, key, events));
            if (running) {
                election.start();
            }
            return election;
        }
    }

    /**
     * The leadership of this application in an election that it has joined, for as long as {@link LeaderOnly} methods
     * may run; empty if it does not lead. Never blocks.
     */
    public Optional<Leadership> leadership(String path) {
        return Optional.ofNullable(elections.get(NodePath.of(path))).flatMap(LedElection::leadership);
    }

    /** All that were joined, as the endpoint shows them. */
    List<ConclaveEndpoint.Election> all() {
        return elections.values().stream()
                .map(one -> {
                    Optional<Leadership> leadership = one.leadership();
                    return new ConclaveEndpoint.Election(
                            one.path().toString(),
                            leadership.isPresent(),
                            leadership.map(held -> held.token().toString()).orElse(null));
                })
                .sorted(Comparator.comparing(ConclaveEndpoint.Election::path))
                .toList();
    }

    /** Whether this application leads an election that it has joined. Never blocks. */
    public boolean isLeader(String path) {
        return leadership(path).isPresent();
    }

    @Override
    public void start() {
        synchronized (lock) {
            running = true;
            paths.get().forEach(this::join);
            elections.values().forEach(LedElection::start);
        }
    }

    /**
     * Gives all leaderships up. Blocks until work under them has ended, for the session timeout at most in all. A
     * method that stops the application itself, or calls System.exit, is neither interrupted nor waited for; neither is
     * one that calls System.exit because it was interrupted.
     */
    @Override
    public void stop() {
        List<LedElection> ending;
        synchronized (lock) {
            running = false;
            ending = List.copyOf(elections.values());
        }
        List<Ending> endings =
                ending.stream().map(one -> new Ending(one, one.stop())).toList();
        RecipeSession session = RecipeAccess.session(coordinator);
        CompletableFuture<Void> ended =
                CompletableFuture.allOf(endings.stream().map(Ending::end).toArray(CompletableFuture<?>[]::new));
        lookUntil(
                Waiting.atMost(session.time(), session.sessionTimeout(), ended).toCompletableFuture(), endings);
    }

    private record Ending(LedElection election, CompletableFuture<Void> end) {
        boolean isOver() {
            return end.isDone() || election.awaitsThisStop();
        }
    }

    /** Returns when it is enough, or earlier if those that have not ended wait for this thread. */
    private static void lookUntil(CompletableFuture<Void> enough, List<Ending> endings) {
        boolean isInterrupted = false;
        while (!enough.isDone() && !endings.stream().allMatch(Ending::isOver)) {
            isInterrupted |= isInterruptedBeforeTheNextLook(enough);
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean isInterruptedBeforeTheNextLook(CompletableFuture<Void> enough) {
        try {
            enough.get(LOOK_MS, TimeUnit.MILLISECONDS);
            return false;
        } catch (TimeoutException | ExecutionException next) {
            return false;
        } catch (InterruptedException e) {
            return true;
        }
    }

    @Override
    public boolean isRunning() {
        synchronized (lock) {
            return running;
        }
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    @Override
    public void destroy() {
        stop();
    }
}
