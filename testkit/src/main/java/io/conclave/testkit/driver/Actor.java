package io.conclave.testkit.driver;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.LossReason;
import io.conclave.error.NotConnectedException;
import io.conclave.grant.FencedGrant;
import io.conclave.grant.Grant;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.session.SessionState;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** A participant of a run: the victim or a helper, with a coordinator of its own. Thread-safe. */
public final class Actor {
    /** What an actor does on a thread of its own. */
    @FunctionalInterface
    public interface Body {
        /** May block and throw; whether it may throw is for the driver to judge. */
        void run(Actor me) throws Exception;
    }

    private final FaultRun run;
    private final String name;
    private final boolean isVictim;
    private final Coordinator coordinator;
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private final List<Act> acts = new ArrayList<>();
    private int holdings;

    /** One body that was started. */
    private static final class Act {
        final CompletableFuture<Void> ended = new CompletableFuture<>();
        /** The thread while the body runs; guarded by the actor's lock. */
        @Nullable
        Thread thread;
        /**
         * Whether an interrupt was sent that must come out as an exception or stay as a flag; guarded by the actor's
         * lock.
         */
        boolean interrupted;
    }

    Actor(FaultRun run, String name, boolean isVictim, Coordinator coordinator) {
        this.run = run;
        this.name = name;
        this.isVictim = isVictim;
        this.coordinator = coordinator;
    }

    /** The actor's name in reports. */
    public String name() {
        return name;
    }

    /** The actor's own connection to the store. */
    public Coordinator coordinator() {
        return coordinator;
    }

    boolean isConnected() {
        return coordinator.state() == SessionState.CONNECTED;
    }

    boolean isClosed() {
        return coordinator.state() == SessionState.CLOSED;
    }

    /**
     * Runs the body on a thread of its own. Never blocks. How it ends is judged by the driver: the victim's may fail as
     * its faults explain, a helper's not at all.
     */
    public void start(Body body) {
        Act act = new Act();
        synchronized (lock) {
            acts.add(act);
        }
        run.started();
        run.threads().execute(() -> perform(act, body));
    }

    private void perform(Act act, Body body) {
        Throwable failure = null;
        begin(act);
        try {
            body.run(this);
        } catch (Throwable e) { // whatever it is, it is a result of the run
            failure = e;
        }
        boolean flag = Thread.interrupted();
        if (end(act) && !flag && !Thread.interrupted() && !(failure instanceof InterruptedException)) {
            run.violated(name + " was interrupted, and neither threw InterruptedException nor kept the thread's flag");
        }
        if (failure != null) {
            run.ended(this, failure);
        }
        act.ended.complete(null);
        run.finished();
    }

    /** Whether the calling thread runs one of its bodies. */
    boolean isRunningHere() {
        synchronized (lock) {
            return acts.stream().anyMatch(act -> act.thread == Thread.currentThread());
        }
    }

    private void begin(Act act) {
        synchronized (lock) {
            act.thread = Thread.currentThread();
        }
    }

    private boolean end(Act act) {
        synchronized (lock) {
            act.thread = null;
            return act.interrupted;
        }
    }

    /** Interrupts the bodies that run; whether there was one. */
    boolean interrupt() {
        synchronized (lock) {
            boolean any = false;
            for (Act act : acts) {
                Thread thread = act.thread;
                if (thread != null) {
                    act.interrupted = true;
                    thread.interrupt();
                    any = true;
                }
            }
            return any;
        }
    }

    boolean isDone() {
        synchronized (lock) {
            return acts.stream().allMatch(act -> act.ended.isDone());
        }
    }

    /** Where the bodies that still run stand, for reports. */
    List<String> positions() {
        List<String> positions = new ArrayList<>();
        synchronized (lock) {
            for (Act act : acts) {
                Thread thread = act.thread;
                if (thread != null) {
                    positions.add(name + " still waits" + FaultRun.stackOf(thread));
                }
            }
        }
        return positions;
    }

    /**
     * Waits until everything that was started has ended. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public void join() throws InterruptedException {
        List<CompletableFuture<Void>> ends;
        synchronized (lock) {
            ends = acts.stream().map(act -> act.ended).toList();
        }
        try {
            CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0])).get();
        } catch (ExecutionException e) {
            throw new AssertionError("It never ends exceptionally", e);
        }
    }

    /**
     * Waits for a stage as a caller of the asynchronous form does. Blocks. An interrupt cancels the stage; if it had
     * come by then, its result is returned and the thread's interrupt flag is kept.
     *
     * @throws Exception what the stage failed with, unwrapped
     */
    public <T> T await(CompletionStage<T> stage) throws Exception {
        CompletableFuture<T> future = stage.toCompletableFuture();
        try {
            return future.get();
        } catch (InterruptedException e) {
            future.cancel(true);
            if (future.isCancelled() || future.isCompletedExceptionally()) {
                throw e;
            }
            Thread.currentThread().interrupt();
            return future.join();
        } catch (ExecutionException e) {
            Throwable cause = Waiting.cause(e);
            if (cause instanceof Exception known) {
                throw known;
            }
            throw e;
        }
    }

    /**
     * Makes a plain try. It may end with {@link NotConnectedException} if the store was silent for the whole try
     * timeout, by the clock of the run. Blocks.
     *
     * @throws Exception what the try ends with otherwise
     */
    public void unlessTheStoreIsSilent(Try attempt) throws Exception {
        RecipeSession session = RecipeAccess.session(coordinator);
        long beganNanos = session.time().monotonicNanos();
        try {
            attempt.run();
        } catch (NotConnectedException e) {
            long tookNanos = session.time().monotonicNanos() - beganNanos;
            if (tookNanos < session.tryTimeout().toNanos()) {
                throw new AssertionError("The store was given " + tookNanos + " ns to answer", e);
            }
        }
    }

    /** A plain try, and what follows if it succeeds. */
    @FunctionalInterface
    public interface Try {
        /** Tries. */
        void run() throws Exception;
    }

    /**
     * Holds an exclusive grant for a while of manual time, checks it at rest, and gives it back. Blocks; keeps an
     * interrupt as the thread's flag.
     */
    public void hold(FencedGrant grant) {
        hold(granted("", Holding.Kind.EXCLUSIVE, HeldClaim.of(grant), 1));
    }

    /** As {@link #hold(FencedGrant)}, for a grant that others may share. */
    public void share(FencedGrant grant) {
        hold(granted("", Holding.Kind.SHARED, HeldClaim.of(grant), 1));
    }

    /** As {@link #hold(FencedGrant)}, for a number of permits: see {@link FaultDriver#permits}. */
    public void hold(Grant permits, int count) {
        hold(HeldClaim.of(permits), count);
    }

    /** As {@link #hold(Grant, int)}, for whatever else counts as permits. */
    public void hold(HeldClaim permits, int count) {
        hold(granted("", Holding.Kind.PERMIT, permits, count));
    }

    /** As {@link #hold(FencedGrant)}, for what was granted before. */
    public void hold(Holding holding) {
        run.pauseUninterruptibly(run.holdTimeOf(this));
        holding.checkAtRest();
        holding.release();
    }

    /** An exclusive grant is held from now until {@link Holding#release}. To be called right after it was given. */
    public Holding granted(FencedGrant grant) {
        return granted("", Holding.Kind.EXCLUSIVE, HeldClaim.of(grant), 1);
    }

    /**
     * Something is held from now until {@link Holding#release}. To be called right after it was given.
     *
     * @param resource which of several that do not exclude each other; any name
     * @param kind what it excludes
     * @param claim what was given
     * @param weight how many permits it takes
     */
    public Holding granted(String resource, Holding.Kind kind, HeldClaim claim, int weight) {
        int number;
        synchronized (lock) {
            number = ++holdings;
        }
        String id = name + (number == 1 ? "" : "#" + number) + (resource.isEmpty() ? "" : " on " + resource);
        Holding holding = new Holding(run, this, id, resource, kind, claim, weight);
        run.holdings().granted(holding);
        return holding;
    }

    boolean isExplained(LossReason reason) {
        return isVictim && run.struck().stream().anyMatch(fault -> fault.explains(reason));
    }

    boolean isVictim() {
        return isVictim;
    }

    @Override
    public String toString() {
        return "Actor[" + name + ", " + coordinator + "]";
    }
}
