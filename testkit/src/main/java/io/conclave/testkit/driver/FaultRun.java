package io.conclave.testkit.driver;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One run of a {@link Scenario}: a fresh store in memory, manual time, the victim and its helpers.
 *
 * <p>Time stands while anybody works, and jumps to the next timer when everybody waits; so a timeout of an hour costs
 * nothing, and none runs out because the machine was busy. Thread-safe.
 */
public final class FaultRun {
    /** Longer than the few reconnections that a plan can ask for. */
    private static final Duration AFTERMATH = Duration.ofSeconds(5);

    private final FaultDriver.Settings settings;
    private final Plan plan;
    private final String storeName = "fault-run-" + UUID.randomUUID();
    private final QuietThreads threads;
    private final ManualTimeSource time = new ManualTimeSource();
    private final Pump pump;
    private final Holdings holdings;
    private final Balance balance = new Balance();
    private final StoppableProcess process;
    private final Actor victim;
    private final MemoryStore store;
    private final Rivals rivals;
    private final Injector injector;
    private final List<Actor> actors = new CopyOnWriteArrayList<>();
    private final List<String> violations = new CopyOnWriteArrayList<>();
    private final List<Throwable> causes = new CopyOnWriteArrayList<>();
    private final Queue<CompletableFuture<Void>> restWaiters = new ConcurrentLinkedQueue<>();
    private final AtomicInteger started = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final List<Integer> restsBehind = new ArrayList<>();
    private volatile @Nullable Throwable victimFailure;
    private volatile boolean isPlaying;
    private volatile boolean isChecking;
    private volatile boolean isGivenUp;

    /** What the judge needs to know of a run that is over. */
    record Outcome(
            List<String> violations,
            List<Throwable> causes,
            Injector injector,
            List<Integer> rests,
            Set<String> rivals,
            Set<NodePath> left,
            @Nullable Throwable victimFailure,
            String history,
            Duration lasted,
            int granted) {}

    FaultRun(FaultDriver.Settings settings, Plan plan, Executor pool) {
        this.settings = settings;
        this.plan = plan;
        this.threads = new QuietThreads(pool);
        this.pump = new Pump(time, threads, this::onRest);
        this.holdings = new Holdings(time, settings.permits());
        this.process = new StoppableProcess(threads, time);
        this.store = MemoryStore.named(storeName, time); // the store's clocks are the run's, not the victim's
        settings.mistake().ifPresent(mistake -> store.faults().plant(process.clocks(), mistake::around));
        this.victim = new Actor(this, "victim", true, connect(process, process.clocks()));
        this.rivals = new Rivals(this, store, process, settings.sessionTimeout());
        this.injector = new Injector(
                store, plan, new Struck(), settings.sessionTimeout().multipliedBy(2), rivals);
        actors.add(victim);
        store.faults().intercept(injector);
    }

    private final class Struck implements Injector.Victim {
        @Override
        public boolean interrupt() {
            return victim.interrupt();
        }

        @Override
        public void sessionEnded() {
            Set<Long> sessions = injector.sessions();
            store.snapshot().values().stream()
                    .filter(stat -> sessions.contains(stat.ephemeralOwner()))
                    .forEach(stat -> holdings.goesWithSession(stat.czxid()));
            holdings.ended(victim);
        }

        @Override
        public void nodeDeleted(long czxid) {
            holdings.deleted(czxid);
        }

        @Override
        public boolean mayGoAway() {
            return isPlaying && !isChecking;
        }
    }

    private Coordinator connect(Executor executor, TimeSource clocks) {
        return Coordinator.builder("memory:" + storeName)
                .sessionTimeout(settings.sessionTimeout())
                .timeSource(clocks)
                .listenerExecutor(executor)
                .metrics(balance)
                .connect();
    }

    /** The actor whose requests meet the faults. Its requests count from the beginning of the run. */
    public Actor victim() {
        return victim;
    }

    /** Another actor, which meets no fault; connected. Each call makes one. Blocks until it is connected. */
    public Actor helper(String name) {
        Coordinator coordinator = connect(threads, time);
        injector.spare(RecipeAccess.session(coordinator).id());
        Actor helper = new Actor(this, name, false, coordinator);
        actors.add(helper);
        return helper;
    }

    Actor rivalActor(String name) {
        Actor rival = helper(name);
        injector.spareRival(RecipeAccess.session(rival.coordinator()).id());
        return rival;
    }

    /**
     * Names something that another process may do while the victim is away: cut off or stopped, within its session or
     * for longer than that. The driver has it done in runs of their own, once for each of the victim's requests and
     * each way to be away, and in random pairs with other faults; no other run does it. The victim comes back when it
     * is done. To be called before the victim starts.
     *
     * @param name in words, such as "removes it"; without any of , : @ /
     * @param body what it does, by a session of its own; it must not fail, whatever the victim has done so far, and
     *     must not wait for what only the victim can do
     */
    public void rival(String name, Actor.Body body) {
        rivals.add(name, body);
    }

    /**
     * Deletes all ephemeral znodes of the victim, as an operator would: for a rival that throws it out while it is
     * away.
     */
    public void deleteZnodesOfVictim() {
        injector.deleteAsRival();
    }

    /** Whether the actor is the victim, and away: what it says then is not what it says when it is back. */
    boolean isAway(Actor actor) {
        return actor.isVictim() && rivals.isAway();
    }

    /**
     * Waits until everybody waits, without letting time pass: until the victim stands in line, say. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public void untilAtRest() throws InterruptedException {
        CompletableFuture<Void> rest = new CompletableFuture<>();
        restWaiters.add(rest);
        await(rest);
    }

    void untilAtRestUninterruptibly() {
        CompletableFuture<Void> rest = new CompletableFuture<>();
        restWaiters.add(rest);
        rest.join();
    }

    /**
     * Lets manual time pass. Blocks until it has.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public void pause(Duration duration) throws InterruptedException {
        await(pausing(duration));
    }

    /**
     * Waits until what the victim's calls have left going has ended, too, and the victim is neither away nor cut off
     * any more: a call that was interrupted goes on in the background, over lost connections, and a session that is
     * lost may live on at the server until the next one opens. To be called between the victim's end and a look at what
     * it has done. Blocks while manual time passes.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public void settle() throws InterruptedException {
        boolean wasAway = true;
        while (wasAway) {
            untilAtRest(); // a fault may be about to strike
            wasAway = isVictimAway();
            pause(AFTERMATH);
            wasAway |= isVictimAway();
        }
    }

    private boolean isVictimAway() {
        return rivals.isAway() || !(victim.isConnected() || victim.isClosed());
    }

    void pauseUninterruptibly(Duration duration) {
        pausing(duration).join();
    }

    private CompletableFuture<Void> pausing(Duration duration) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        TimeSource clocks = victim.isRunningHere() ? process.clocks() : time;
        clocks.schedule(duration, () -> over.complete(null));
        return over;
    }

    /** Of futures it is known whether their waiters have been woken: see {@link QuietThreads}. */
    private static void await(CompletableFuture<Void> future) throws InterruptedException {
        try {
            future.get();
        } catch (ExecutionException e) {
            throw new AssertionError("It never ends exceptionally", e);
        }
    }

    /** Interrupts the victim's calling threads, in every run: for scenarios whose victim gives up that way. */
    public void interruptVictim() {
        victim.interrupt();
    }

    /** What has happened to the victim so far, faults without any effect left out. */
    public Set<Fault> struck() {
        return injector.struck();
    }

    /** Whether no fault is planned. */
    public boolean isClean() {
        return plan.strikes().isEmpty();
    }

    /** Reports that something is wrong that the driver does not know of. The run goes on. */
    public void violated(String what) {
        violations.add(what);
    }

    /** The run's clocks. They are the driver's to move. */
    public ManualTimeSource time() {
        return time;
    }

    /** The run's store, to look into. */
    public MemoryStore store() {
        return store;
    }

    /** The victim has been away for long enough to lose its session. */
    void sessionMayEnd() {
        injector.note(Fault.PARTITION_AFTER);
    }

    Holdings holdings() {
        return holdings;
    }

    QuietThreads threads() {
        return threads;
    }

    /**
     * Helpers hold a little longer: if the victim spoils what they hold when it releases its own, they shall see it.
     */
    Duration holdTimeOf(Actor actor) {
        Duration own = settings.holdTime();
        return actor.isVictim() ? own : own.plus(own.dividedBy(2));
    }

    /** A body is about to run. */
    void started() {
        started.incrementAndGet();
    }

    /** A body has ended, and has started before that what it starts. */
    void finished() {
        ended.incrementAndGet();
    }

    /** The failure of an actor's body. */
    void ended(Actor actor, Throwable failure) {
        if (isGivenUp) {
            return; // it was interrupted because the run is a failure already
        }
        if (actor.isVictim()) {
            victimFailure = failure;
            if (failure instanceof AssertionError || !settings.isExplained(failure, injector.struck())) {
                violated("the victim's call ended with what no fault explains: " + failure);
                causes.add(failure);
            }
        } else {
            violated(actor.name() + " failed without a fault: " + failure);
            causes.add(failure);
        }
    }

    /** By the pump, when everybody waits. */
    private boolean onRest() {
        if (injector.strikeAtRest()) {
            return true;
        }
        if (!isPlaying) {
            return false;
        }
        int behind = injector.requestCount() - 1;
        if (behind >= 0 && !victim.isDone() && !restsBehind.contains(behind)) {
            restsBehind.add(behind);
        }
        CompletableFuture<Void> waiter = restWaiters.poll();
        return waiter != null && waiter.complete(null);
    }

    /** Plays the scenario and looks at what is left. Blocks. */
    Outcome play(Scenario scenario) throws InterruptedException {
        Actor director = new Actor(this, "scenario", false, victim.coordinator());
        actors.add(director);
        isPlaying = true;
        director.start(me -> scenario.play(this));
        Duration away =
                settings.sessionTimeout().multipliedBy(3L * plan.strikes().size());
        boolean ended = reached(
                pump.until(this::isOver, plan.hasRivals() ? settings.bound().plus(away) : settings.bound()));
        isPlaying = false;
        if (ended) {
            if (settings.checksGhosts()) {
                checkGhosts();
            }
            settings.afterwards().ifPresent(check -> checkAfterwards(check));
        }
        final Duration lasted = Duration.ofNanos(time.monotonicNanos());
        close();
        violations.addAll(holdings.violations());
        return new Outcome(
                List.copyOf(violations),
                List.copyOf(causes),
                injector,
                List.copyOf(restsBehind),
                rivals.names(),
                store.snapshot().keySet(),
                victimFailure,
                holdings.toString(),
                lasted,
                holdings.count());
    }

    private boolean isOver() {
        // In this order: a task that has ended has counted the tasks that it started before.
        boolean allEnded = ended.get() == started.get();
        return allEnded || injector.requestCount() > settings.runawayRequests();
    }

    private boolean reached(Pump.End end) {
        if (injector.requestCount() > settings.runawayRequests()) {
            violated("the victim sends requests without end: " + injector.requestCount());
            return false;
        }
        if (end != Pump.End.DONE) {
            violated(
                    end == Pump.End.OUT_OF_TIME
                            ? "lost wake-up: an actor that may proceed did not within " + settings.bound()
                            : "the threads did not come to rest");
            actors.forEach(actor -> violations.addAll(actor.positions()));
            violated("what stands in the store: " + ephemerals());
        }
        return end == Pump.End.DONE;
    }

    private void checkGhosts() throws InterruptedException {
        // the sessions live on: what goes only with its session would block others until the process ends
        if (pump.until(() -> ephemerals().isEmpty(), settings.bound()) != Pump.End.DONE) {
            violated("left behind while its session lives: " + ephemerals());
        }
    }

    private List<String> ephemerals() {
        Set<Long> victims = injector.sessions();
        return store.snapshot().entrySet().stream()
                .filter(node -> node.getValue().isEphemeral())
                .map(node -> node.getKey() + " of "
                        + (victims.contains(node.getValue().ephemeralOwner()) ? "the victim" : "a helper"))
                .toList();
    }

    private void checkAfterwards(Scenario check) {
        Actor checker = new Actor(this, "check afterwards", false, victim.coordinator());
        actors.add(checker);
        isChecking = true;
        isPlaying = true;
        checker.start(me -> check.play(this));
        try {
            reached(pump.until(this::isOver, settings.bound()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        isPlaying = false;
    }

    private void close() throws InterruptedException {
        isGivenUp = true;
        process.goOn();
        actors.forEach(Actor::interrupt); // those that are stuck
        restWaiters.forEach(waiter -> waiter.complete(null));
        CompletableFuture<Void> closed = new CompletableFuture<>();
        threads.execute(() -> {
            actors.forEach(actor -> actor.coordinator().close());
            closed.complete(null);
        });
        pump.until(closed::isDone, settings.bound());
        List<String> ghosts = ephemeralsOnceClosed();
        if (!ghosts.isEmpty()) {
            violated("left behind though all sessions are closed: " + ghosts);
        }
        if (violations.isEmpty()) {
            pump.until(balance::isEven, settings.bound());
            violations.addAll(balance.violations());
        }
        MemoryStore.forget(storeName);
    }

    /** A session whose closing did not arrive expires. */
    private List<String> ephemeralsOnceClosed() throws InterruptedException {
        pump.until(() -> ephemerals().isEmpty(), settings.sessionTimeout().multipliedBy(3));
        return ephemerals();
    }

    static String stackOf(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .filter(frame -> !frame.getClassName().startsWith("java."))
                .limit(8)
                .map(frame -> "\n        at " + frame)
                .collect(Collectors.joining());
    }

    static String list(List<String> requests, Map<Integer, String> marks) {
        StringBuilder text = new StringBuilder();
        for (int index = 0; index < requests.size(); index++) {
            text.append("\n    ").append(index).append(' ').append(requests.get(index));
            text.append(marks.containsKey(index) ? "   <-- " + marks.get(index) : "");
        }
        return text.toString();
    }
}
