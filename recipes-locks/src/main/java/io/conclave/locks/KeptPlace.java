package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.LossReason;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.FencingToken;
import io.conclave.line.Contender;
import io.conclave.line.RivalWatch;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The place of one session in the line of a lock, which is passed on in memory among the callers of this process. It is
 * a lock of this process, first come, first served, around one {@link Contender} at a time. See Dice, Marathe and
 * Shavit, "Lock Cohorting" (2012), and the blocking ASTs of the VMS lock manager.
 *
 * <pre>{@code
 * NO PLACE -> IN LINE -> HELD by a caller <-> IDLE
 *    ^           |         |                   |
 *    +-----------+---------+-------------------+   (given up, or lost)
 * }</pre>
 *
 * <p>A caller is granted only while the place is held by the clock of its session, and no other caller has it. So two
 * of this process never hold together, and those of others are kept out by the contender's znode.
 *
 * <p>The state is guarded by this object. What others are told of a change is told after it, outside of the monitor: a
 * step answers with that.
 */
final class KeptPlace {
    private static final CompletionStage<Void> DONE = CompletableFuture.completedFuture(null);

    private final RecipeSession session;
    private final LockLine line;
    private final Keeping keeping;
    private final Consumer<KeptPlace> onUnused;
    private final Registration sessionListener;

    // All below: @GuardedBy("this").
    private final Deque<KeptRequest> waiting = new ArrayDeque<>();
    private boolean unused; // for good: another one takes its part
    private @Nullable Contender contender; // in line or holding
    private boolean held; // by the contender
    private KeptTurns turns; // of the contender
    private @Nullable KeptRequest holder; // of ours
    private long idleSinceNanos;
    private TimeSource.@Nullable Timer idleTimer;

    /**
     * A place that nobody has entered yet.
     *
     * @param onUnused told when nobody wants it any more, and it takes no more requests
     */
    KeptPlace(RecipeSession session, LockLine line, Keeping keeping, Consumer<KeptPlace> onUnused) {
        this.session = session;
        this.line = line;
        this.keeping = keeping;
        this.onUnused = onUnused;
        this.turns = new KeptTurns(keeping, session.time());
        this.sessionListener = session.onStateChange(this::onSessionState);
    }

    // ---- the way to a grant, for any thread

    /** Grants the place if it is idle; else the request waits for its turn. Whether it was taken at all. */
    boolean join(KeptRequest request) {
        Runnable told;
        synchronized (this) {
            if (unused) {
                return false;
            }
            boolean isTaken = holder != null || !waiting.isEmpty();
            if (!isTaken && mayPassOn()) {
                told = handTo(request);
            } else if (isTaken && !request.isPatient()) {
                told = () -> request.tellFailed(takenHere(Duration.ZERO), DONE);
            } else {
                waiting.add(request);
                told = enterLine();
            }
        }
        told.run();
        return true;
    }

    /** Enters the line for those who wait, unless it is entered. */
    private Runnable enterLine() {
        KeptRequest first = waiting.peek();
        if (first == null || contender != null) {
            return KeptPlace::nothing;
        }
        Contender entered = Contender.enterWithinMonitor(
                session, line.path(), line.layout().mutex(), line.data(), first.isPatient());
        contender = entered;
        held = false;
        turns = new KeptTurns(keeping, session.time());
        return () -> follow(entered);
    }

    private void follow(Contender entered) {
        Waiting.whenDone(entered.granted(), granted -> onGranted(entered), cause -> onNotGranted(entered, cause));
        entered.lost().thenAccept(reason -> onLost(entered, reason));
        entered.revocationRequested().thenRun(() -> onAskedToGiveUp(entered));
    }

    private void onGranted(Contender granted) {
        takeIfPresent(granted, () -> {
            held = true;
            Runnable next = next();
            return () -> {
                next.run();
                RivalWatch.begin(granted, () -> onWanted(granted));
            };
        });
    }

    /** Whether a caller who is granted the place now surely holds it. */
    private boolean mayPassOn() {
        Contender present = contender;
        return held && present != null && !present.remaining().isZero() && session.state() == SessionState.CONNECTED;
    }

    private Runnable handTo(KeptRequest request) {
        Contender present = contender;
        if (present == null) {
            throw new IllegalStateException("Nothing is held: " + this);
        }
        FencingToken first = present.token();
        long turn = turns.next();
        request.take(present, new FencingToken(first.generation(), first.sequence(), turn));
        holder = request;
        boolean isAskedToGiveUp = turns.isEnding();
        return () -> {
            if (turn > 0) {
                session.metrics().count("lock.kept", line.path().toString());
            }
            if (isAskedToGiveUp) {
                request.tellAskedToGiveUp();
            }
            request.tellGranted();
        };
    }

    // ---- the end of a turn

    /** Gives the place back, or stops waiting for it. */
    void leave(KeptRequest request, ConclaveException why) {
        take(() -> holder == request ? endTurn(request) : withdraw(request, why));
    }

    /** One that ends after the session's deadline was lost, not released; the contender says why. */
    private Runnable endTurn(KeptRequest request) {
        Contender before = contender;
        holder = null;
        if (before == null) {
            throw new IllegalStateException("A turn without a place: " + request);
        }
        boolean isOver = before.remaining().isZero();
        Runnable next = next();
        CompletionStage<Void> left = contender == before ? DONE : before.gone();
        return () -> {
            if (isOver) {
                before.lost().thenAccept(request::tellLost);
            } else {
                request.tellReleased(left);
            }
            next.run();
        };
    }

    /** Stops waiting; what was granted stays granted. */
    void giveUpWaiting(KeptRequest request, ConclaveException why) {
        take(() -> withdraw(request, why));
    }

    private Runnable withdraw(KeptRequest request, ConclaveException why) {
        if (!waiting.remove(request)) {
            return KeptPlace::nothing; // granted, failed, or gone
        }
        CompletionStage<Void> left = DONE;
        Contender present = contender;
        if (waiting.isEmpty() && present != null && !held) {
            contender = null;
            left = present.leave(why);
        }
        CompletionStage<Void> gone = left;
        Runnable next = waiting.isEmpty() ? next() : KeptPlace::nothing;
        Runnable unused = leaveUnused();
        return () -> {
            request.tellFailed(why, gone);
            next.run();
            unused.run();
        };
    }

    /** Nobody of ours has the place: passes it on, gives it up, or leaves it idle. */
    private Runnable next() {
        if (!held || holder != null) {
            return KeptPlace::nothing;
        }
        if (turns.mustGiveWay(waiting.isEmpty())) {
            return giveWay();
        }
        if (waiting.isEmpty()) {
            becomeIdle();
            return KeptPlace::nothing;
        }
        return mayPassOn()
                ? handTo(waiting.remove())
                : KeptPlace::nothing; // the session says when it is connected again, or lost
    }

    /** Gives the place up. Those who wait enter the line anew, behind the others. */
    private Runnable giveWay() {
        Contender present = contender;
        contender = null;
        held = false;
        if (present != null) {
            present.leave(new ClosedException("Gave way to others: " + present));
        }
        return goOn();
    }

    /** Ends for good if nobody has anything to do with it. */
    private Runnable leaveUnused() {
        if (contender != null || !waiting.isEmpty() || unused) {
            return KeptPlace::nothing;
        }
        unused = true;
        TimeSource.Timer timer = idleTimer;
        return () -> {
            if (timer != null) {
                timer.cancel();
            }
            sessionListener.close();
            onUnused.accept(this);
        };
    }

    // ---- an idle place: one timer, which looks when it fires how long that is

    private void becomeIdle() {
        idleSinceNanos = session.time().monotonicNanos();
        if (idleTimer == null) {
            idleTimer = session.time().schedule(keeping.idle(), this::onIdleTimer);
        }
    }

    private void onIdleTimer() {
        take(() -> {
            idleTimer = null;
            if (!held || holder != null || !waiting.isEmpty()) {
                return KeptPlace::nothing;
            }
            Duration left = keeping.idle().minusNanos(nanosSince(idleSinceNanos));
            if (left.isNegative() || left.isZero()) {
                return giveWay();
            }
            idleTimer = session.time().schedule(left, this::onIdleTimer);
            return KeptPlace::nothing;
        });
    }

    private long nanosSince(long nanos) {
        return session.time().monotonicNanos() - nanos;
    }

    // ---- how a step is taken

    private void take(Supplier<Runnable> step) {
        Runnable told;
        synchronized (this) {
            told = step.get();
        }
        told.run();
    }

    /** Nothing to do with one that was given up. */
    private void takeIfPresent(Contender of, Supplier<Runnable> step) {
        take(() -> contender == of ? step.get() : KeptPlace::nothing);
    }

    private static void nothing() {}

    // ---- what comes from elsewhere

    /** Another contender is in the line. */
    private void onWanted(Contender seenBy) {
        takeIfPresent(seenBy, () -> {
            turns.wantedByAnother();
            return next();
        });
    }

    /** The word that asks for the release stands in the znode. */
    private void onAskedToGiveUp(Contender asked) {
        takeIfPresent(asked, () -> {
            turns.end();
            KeptRequest present = holder;
            Runnable next = held ? next() : KeptPlace::nothing;
            return present == null ? next : present::tellAskedToGiveUp;
        });
    }

    /** This turn is the last one: its holder was told of the znode, which outlasts the turn if the place is kept. */
    boolean keepsNoLonger(KeptRequest request, Contender of) {
        synchronized (this) {
            if (holder == request) {
                turns.end();
            }
            return holder == request || contender != of;
        }
    }

    private void onSessionState(SessionState state) {
        take(() -> state == SessionState.CONNECTED ? next() : KeptPlace::nothing);
    }

    /**
     * The contender has left without a grant. A failure is that of the one it was entered for; the others try again.
     */
    private void onNotGranted(Contender ended, Throwable cause) {
        takeIfPresent(ended, () -> {
            contender = null;
            KeptRequest first = waiting.peek();
            boolean isAnswer = !(cause instanceof AcquireTimeoutException) || (first != null && !first.isPatient());
            List<KeptRequest> failed = Failures.isSessionOver(cause) ? waiting() : isAnswer ? first() : List.of();
            return goOnWithout(failed, cause);
        });
    }

    /** The place was lost, with its session or by somebody's deletion of its znode. */
    private void onLost(Contender ended, LossReason reason) {
        takeIfPresent(ended, () -> {
            contender = null;
            held = false;
            Optional<KeptRequest> loser = Optional.ofNullable(holder);
            holder = null;
            Runnable others =
                    endOfSession(reason).map(end -> goOnWithout(waiting(), end)).orElseGet(this::goOn);
            return () -> {
                loser.ifPresent(request -> request.tellLost(reason));
                others.run();
            };
        });
    }

    private Runnable goOnWithout(List<KeptRequest> failed, Throwable cause) {
        failed.forEach(waiting::remove); // the first ones, in this order
        Runnable others = goOn();
        return () -> {
            failed.forEach(request -> request.tellFailed(cause, DONE));
            others.run();
        };
    }

    /** Enters the line anew for those who wait; without them this ends. */
    private Runnable goOn() {
        Runnable entered = enterLine();
        Runnable unused = leaveUnused();
        return () -> {
            entered.run();
            unused.run();
        };
    }

    private List<KeptRequest> waiting() {
        return new ArrayList<>(waiting);
    }

    private List<KeptRequest> first() {
        return waiting.isEmpty() ? List.of() : List.of(waiting.element());
    }

    private Optional<ConclaveException> endOfSession(LossReason reason) {
        String what = " while waiting for " + line.path();
        return switch (reason) {
            case SESSION_LOST -> Optional.of(new SessionGoneException("The session was lost" + what));
            case COORDINATOR_CLOSED -> Optional.of(new ClosedException("The coordinator was closed" + what));
            case NODE_DELETED, REVOKED, REFUSED, TIME_OVER, RELEASED -> Optional.empty();
        };
    }

    // ---- what requests ask

    RecipeSession session() {
        return session;
    }

    NodePath path() {
        return line.path();
    }

    AcquireTimeoutException timedOut(Duration waited) {
        Contender present;
        boolean isIdle;
        synchronized (this) {
            present = held ? null : contender;
            isIdle = held && holder == null;
        }
        if (present != null) {
            return present.timedOut(waited);
        }
        SessionState state = session.state();
        return isIdle && state != SessionState.CONNECTED
                ? notGranted(waited, "this process keeps it, but the session is " + state)
                : takenHere(waited);
    }

    private AcquireTimeoutException takenHere(Duration waited) {
        return notGranted(waited, "another caller of this process holds it or waits for it");
    }

    private AcquireTimeoutException notGranted(Duration waited, String why) {
        String message = line.path() + " was not granted within " + Waiting.text(waited) + ": " + why;
        return new AcquireTimeoutException(line.path().toString(), waited, Optional.empty(), message);
    }

    void timeIsRunningOut() {
        Contender present;
        synchronized (this) {
            present = contender;
        }
        if (present != null) {
            present.timeIsRunningOut();
        }
    }

    @Override
    public String toString() {
        return line.path() + " (kept)";
    }
}
