package io.conclave.election;

import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.LossReason;
import io.conclave.error.SessionGoneException;
import io.conclave.line.LossInterrupt;
import io.conclave.metrics.MetricsHook;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.session.SessionState;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The candidacy: campaign, work, resign, campaign.
 *
 * <pre>{@code
 *   +--> CAMPAIGNING -> WORKING
 *   |        |    |        |
 *   |        |    +--------+--> RESIGNING -> CLOSED
 *   |        v                      |
 *   +---- PAUSING <-----------------+
 * }</pre>
 *
 * <p>{@code lock} guards the state; nothing blocks while it is held. No thread waits for leadership: the one that runs
 * the work begins when it is there. A campaign begins only when the work before it has ended and nothing is left of its
 * place, so there are never two works of one candidacy.
 */
final class RepeatedCampaign implements Candidacy {
    private static final Logger LOG = LoggerFactory.getLogger(RepeatedCampaign.class);

    private final LeaderElection election;
    private final LeaderWork work;
    private final Executor executor;
    private final TimeSource time;
    private final MetricsHook metrics;
    private final Executor completions;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private State state = State.PAUSING;
    private boolean closing;
    private @Nullable Campaign campaign;
    private @Nullable Leadership leadership;
    private @Nullable Thread worker;
    private @Nullable LossInterrupt interrupt; // of the worker's work
    private long runs;
    private long failures;

    private enum State {
        /** In the line, or leaving it after a campaign that failed. */
        CAMPAIGNING,
        /** Leading; the work runs, or is about to begin. */
        WORKING,
        /** The work has ended; the place is being given up. */
        RESIGNING,
        /** Nothing is in the line, and the next campaign is to begin. */
        PAUSING,
        /** There is no next campaign. */
        CLOSED;

        boolean mayBecome(State next) {
            return switch (next) {
                case CAMPAIGNING -> this == PAUSING;
                case WORKING -> this == CAMPAIGNING;
                case RESIGNING -> this == CAMPAIGNING || this == WORKING;
                case PAUSING -> this == CAMPAIGNING || this == RESIGNING;
                case CLOSED -> this == PAUSING;
            };
        }
    }

    RepeatedCampaign(LeaderElection election, LeaderWork work, Executor executor) {
        RecipeSession session = RecipeAccess.session(election.coordinator());
        this.election = election;
        this.work = work;
        this.executor = executor;
        this.time = session.time();
        this.metrics = session.metrics();
        this.completions = session.listenerThreads("candidacy for " + election.path());
    }

    /** Enters the line, on whatever session the coordinator has now. Never blocks. */
    void campaign() {
        Campaign next;
        synchronized (lock) {
            if (closing) {
                return;
            }
            become(State.CAMPAIGNING);
            next = election.begin();
            campaign = next;
        }
        Waiting.whenDone(election.leadershipOf(next).stage(Leadership::closeAsync), this::onLeader, cause -> left(next)
                .thenRun(() -> completions.execute(() -> onNoLeader(cause))));
    }

    /**
     * Completes when nothing of the campaign is in the line. Before a session's first connection nobody knows when that
     * is; what gets there is deleted.
     */
    private CompletionStage<Void> left(Campaign ended) {
        return election.coordinator().state() == SessionState.CONNECTING
                ? CompletableFuture.completedFuture(null)
                : ended.gone();
    }

    private void onNoLeader(Throwable cause) {
        boolean coordinatorClosed =
                cause instanceof ClosedException && election.coordinator().state() == SessionState.CLOSED;
        synchronized (lock) {
            campaign = null;
            closing |= coordinatorClosed;
            if (closing) {
                LOG.debug("{}: the candidacy ends: {}", election.path(), cause.getMessage());
            } else if (cause instanceof SessionGoneException) {
                LOG.info("{}: the session was lost, campaigning again on the next one", election.path());
            } else {
                LOG.warn("{}: the campaign failed, trying again", election.path(), cause);
            }
        }
        pause(cause instanceof SessionGoneException ? Duration.ZERO : Retry.delay(cause));
    }

    private void onLeader(Leadership granted) {
        boolean works;
        synchronized (lock) {
            campaign = null;
            works = !closing;
            become(works ? State.WORKING : State.RESIGNING);
            leadership = works ? granted : null;
        }
        if (works) {
            granted.lost().thenAccept(reason -> onLost(granted, reason));
            start(granted);
        } else {
            resign(granted, Duration.ZERO);
        }
    }

    private void start(Leadership granted) {
        try {
            executor.execute(() -> work(granted));
        } catch (RuntimeException | Error e) {
            onWorkEnded(granted, Optional.of(e));
        }
    }

    private void work(Leadership granted) {
        if (!beginWork(granted)) {
            onWorkEnded(granted, Optional.empty());
            return;
        }
        Optional<Throwable> failure = Optional.empty();
        try {
            work.run(granted);
        } catch (Throwable e) { // Kotlin and Scala code may throw anything: nothing else would resign
            failure = Optional.of(e);
        }
        if (endWork(failure.orElse(null))) {
            failure.ifPresent(e -> LOG.debug("{}: the work ended by the interrupt", election.path(), e));
            failure = Optional.empty();
        }
        onWorkEnded(granted, failure);
    }

    /** Whether there is still something to work for. */
    private boolean beginWork(Leadership granted) {
        synchronized (lock) {
            if (closing || !granted.isHeld()) {
                return false;
            }
            worker = Thread.currentThread();
            interrupt = LossInterrupt.begin(granted);
            runs++;
            return true;
        }
    }

    /** The thread is not ours any more; whether the work was to end. */
    private boolean endWork(@Nullable Throwable failure) {
        synchronized (lock) {
            LossInterrupt ending = Objects.requireNonNull(interrupt);
            ending.end(failure, failure);
            worker = null;
            interrupt = null;
            return ending.isTold();
        }
    }

    private void onWorkEnded(Leadership granted, Optional<Throwable> failure) {
        failure.ifPresent(e -> {
            LOG.error("{}: the leader's work failed", election.path(), e);
            metrics.count("election.work.failed", election.path().toString());
        });
        synchronized (lock) {
            failures += failure.isPresent() ? 1 : 0;
            leadership = null;
            become(State.RESIGNING);
        }
        resign(granted, failure.map(Retry::delay).orElse(Duration.ZERO));
    }

    private void resign(Leadership granted, Duration thenPause) {
        granted.closeAsync().thenRun(() -> completions.execute(() -> pause(thenPause)));
    }

    private void onLost(Leadership lost, LossReason reason) {
        synchronized (lock) {
            if (leadership != lost || interrupt == null || interrupt.isReleasedByWork()) {
                return;
            }
            LOG.info("{}: leadership ended ({}), interrupting the work", election.path(), reason);
            interrupt.onLoss();
        }
    }

    /** Nothing is left in the line: the next campaign begins after the delay, if there is to be one. */
    private void pause(Duration delay) {
        synchronized (lock) {
            become(State.PAUSING);
            if (closing) {
                finish();
                return;
            }
        }
        if (delay.isZero()) {
            campaign();
        } else {
            time.schedule(delay, this::campaign);
        }
    }

    /** With the lock held. */
    private void finish() {
        become(State.CLOSED);
        completions.execute(() -> ended.complete(null));
    }

    /** With the lock held. */
    private void become(State next) {
        if (!state.mayBecome(next)) {
            throw new IllegalStateException(
                    "The candidacy for " + election.path() + " cannot go from " + state + " to " + next);
        }
        state = next;
    }

    @Override
    public Optional<Leadership> leadership() {
        synchronized (lock) {
            return Optional.ofNullable(leadership);
        }
    }

    @Override
    public long runCount() {
        synchronized (lock) {
            return runs;
        }
    }

    @Override
    public long failureCount() {
        synchronized (lock) {
            return failures;
        }
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        Campaign unfinished;
        synchronized (lock) {
            unfinished = campaign;
            if (interrupt != null && worker != Thread.currentThread()) {
                interrupt.onLoss(); // also if the work itself has closed it before
            }
            if (!closing) {
                closing = true;
                if (state == State.PAUSING) {
                    finish();
                }
            }
        }
        if (unfinished != null) {
            unfinished.leave(new ClosedException("The candidacy for " + election.path() + " was closed"));
        }
        return ended.copy();
    }

    @Override
    public void close() {
        CompletionStage<Void> done = closeAsync();
        RecipeSession session = RecipeAccess.session(election.coordinator());
        if (!session.isDispatcherThread() && !isWorker()) { // they would wait for themselves
            Waiting.awaitUninterruptibly(session, Waiting.atMost(time, session.sessionTimeout(), done));
        }
    }

    private boolean isWorker() {
        synchronized (lock) {
            return worker == Thread.currentThread();
        }
    }

    @Override
    public String toString() {
        synchronized (lock) {
            return "Candidacy[" + election.path() + ", " + state + ", " + runs + " runs, " + failures + " failures]";
        }
    }
}
