package io.conclave.queues;

import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Exists;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import io.conclave.spi.Elapsed;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A claim that we have: the ephemeral znode {@code claim-<item>} beside the item. The version of the item's znode,
 * which every claim raises, tells ours from a later one, so neither an acknowledgement nor a return that comes late
 * touches what another consumer has claimed.
 *
 * <pre>{@code
 * HELD -> SETTLING -> ENDED      (acknowledged or given back; refused: HELD again)
 *   +---------------> ENDED      (the session is lost or closed; SETTLING: the outcome, or the session is lost)
 * }</pre>
 *
 * <p>State belongs to the session's dispatcher; methods that others may call say so. {@code lock} makes two decisions
 * one: that the claim's time is over, and that it is extended.
 */
final class ClaimedItem<T> implements Claim<T> {
    private static final Logger LOG = LoggerFactory.getLogger(ClaimedItem.class);

    private final RecipeSession session;
    private final QueueLayout layout;
    private final ItemName name;
    private final int version;
    private final T item;
    private final Executor listeners;
    private final CompletableFuture<ClaimEnd> ended = new CompletableFuture<>(); // on the dispatcher
    private final CompletableFuture<ClaimEnd> told = new CompletableFuture<>(); // on listener threads
    private final CompletableFuture<Void> acknowledged = new CompletableFuture<>(); // on the dispatcher
    private final Object lock = new Object();
    private volatile State state = State.HELD; // written on the dispatcher, under the lock
    private volatile Term term; // written under the lock
    private volatile boolean isClosed; // from when the item may be given back at any moment
    private TimeSource.Timer deadline = () -> {};
    private Registration sessionListener = () -> {};

    private enum State {
        HELD,
        SETTLING,
        ENDED
    }

    /** How long it is ours, from when. */
    private record Term(Elapsed since, Duration visibility) {
        Duration remaining() {
            return since.remainingOf(visibility);
        }
    }

    private ClaimedItem(RecipeSession session, QueueLayout layout, Delivery delivery, T item, Duration visibility) {
        this.session = session;
        this.layout = layout;
        this.name = delivery.item();
        this.version = delivery.version();
        this.item = item;
        this.term = new Term(delivery.since(), visibility);
        this.listeners = session.listenerThreads("claim of " + name.name());
        ended.thenAccept(end -> listeners.execute(() -> told.complete(end)));
    }

    /** The claim that a delivery is; its deadline runs since the claim was sent. Any thread. */
    static <T> ClaimedItem<T> of(
            RecipeSession session, QueueLayout layout, Delivery delivery, T item, Duration visibility) {
        ClaimedItem<T> claim = new ClaimedItem<>(session, layout, delivery, item, visibility);
        session.execute(claim::begin);
        return claim;
    }

    /** Gives a claim back that was not taken over. */
    static void giveBack(RecipeSession session, QueueLayout layout, Delivery delivery) {
        ClaimRelease.of(session, layout, delivery.item(), delivery.version());
    }

    private void begin() {
        sessionListener = session.onStateChange(this::onSessionState);
        if (session.state().isLive()) {
            setDeadline();
        } else {
            onSessionState(session.state());
        }
    }

    private void setDeadline() {
        deadline.cancel();
        if (state == State.HELD) {
            deadline = session.time().schedule(term.remaining(), () -> session.execute(this::onDeadline));
        }
    }

    private void onDeadline() {
        if (state == State.HELD) {
            if (isOver()) {
                LOG.warn("{}: not acknowledged within {}; it is given back", this, term.visibility());
                giveBack(ClaimEnd.DEADLINE_PASSED);
            } else {
                setDeadline(); // extended, or the timer was early by the cautious clock
            }
        }
    }

    /** Whether the time of a held claim is over; then it is not held any more, and cannot be extended. */
    private boolean isOver() {
        synchronized (lock) {
            if (!term.remaining().isZero()) {
                return false;
            }
            state = State.SETTLING;
            return true;
        }
    }

    private void become(State next) {
        synchronized (lock) {
            state = next;
        }
    }

    private void onSessionState(SessionState next) {
        if (next == SessionState.LOST) {
            end(ClaimEnd.SESSION_LOST);
        } else if (next == SessionState.CLOSED && state == State.HELD) { // what is on its way is still answered
            end(ClaimEnd.COORDINATOR_CLOSED);
        }
    }

    @Override
    public T item() {
        return item;
    }

    @Override
    public int deliveries() {
        return version;
    }

    @Override
    public Duration remaining() {
        if (isClosed || state != State.HELD) {
            return Duration.ZERO;
        }
        Duration ofTerm = term.remaining();
        Duration ofSession = session.remaining();
        return ofTerm.compareTo(ofSession) < 0 ? ofTerm : ofSession;
    }

    @Override
    public boolean extend(Duration visibility) {
        if (visibility.isZero() || visibility.isNegative()) {
            throw new IllegalArgumentException("Invalid visibility " + visibility + ": it must be positive");
        }
        Term extended = new Term(Elapsed.since(session.time()), visibility);
        synchronized (lock) {
            if (remaining().isZero()) {
                return false;
            }
            term = extended;
        }
        session.execute(this::setDeadline);
        return isHeld();
    }

    @Override
    public void acknowledge() throws InterruptedException {
        session.execute(this::beginAcknowledging);
        Waiting.await(session, acknowledged);
    }

    @Override
    public CompletableFuture<Void> acknowledgeAsync() {
        session.execute(this::beginAcknowledging);
        CompletableFuture<Void> stage = new CompletableFuture<>();
        acknowledged.whenComplete((done, failure) -> listeners.execute(() -> Waiting.forward(acknowledged, stage)));
        return stage;
    }

    private void beginAcknowledging() {
        if (state != State.HELD) {
            return; // acknowledged tells
        }
        if (isOver()) {
            giveBack(ClaimEnd.DEADLINE_PASSED);
            return;
        }
        become(State.SETTLING);
        deadline.cancel();
        Waiting.whenDone(
                QueueAgents.of(session).acknowledgements(session, layout).add(name, version),
                this::onSettled,
                this::endFor);
    }

    private void onSettled(Settlement.Result result) {
        switch (result.kind()) {
            case DONE -> end(ClaimEnd.ACKNOWLEDGED);
            case CLAIM_GONE -> lookForTheItem();
            case REFUSED -> {
                RefusedException refusal = result.refusal().orElseThrow();
                if (Failures.isStale(refusal)) {
                    takenAway();
                } else {
                    giveBackFor(refusal);
                }
            }
        }
    }

    /** The item was written or has gone, or the claim has gone or is another's: what is left of ours goes as well. */
    private void takenAway() {
        ClaimRelease.of(session, layout, name, version);
        end(ClaimEnd.TAKEN_AWAY);
    }

    private void giveBackFor(Throwable cause) {
        acknowledged.completeExceptionally(cause);
        if (state == State.SETTLING) {
            giveBack(ClaimEnd.RELEASED);
        }
    }

    /** The claim has gone with a reply that was lost: the item has gone with it, or the claim was deleted. */
    private void lookForTheItem() {
        session.read(
                Exists.of(layout.item(name)),
                stat -> end(stat.isEmpty() ? ClaimEnd.ACKNOWLEDGED : ClaimEnd.TAKEN_AWAY),
                cause -> Retry.lookAgain(
                        session,
                        this,
                        new OutcomeUnknownException(
                                this + ": the reply to its acknowledgement was lost, and the claim is gone"),
                        cause,
                        this::lookForTheItem,
                        this::endFor));
    }

    private void endFor(Throwable cause) {
        if (cause instanceof SessionGoneException) {
            end(ClaimEnd.SESSION_LOST);
        } else if (cause instanceof ClosedException) {
            end(ClaimEnd.COORDINATOR_CLOSED);
        } else if (cause instanceof OutcomeUnknownException && session.state() == SessionState.CLOSED) {
            acknowledged.completeExceptionally(cause);
            end(ClaimEnd.COORDINATOR_CLOSED);
        } else if (cause instanceof OutcomeUnknownException) { // it may not be found out
            giveBackFor(cause);
        } else {
            LOG.error("{}: unexpected failure", this, cause);
            acknowledged.completeExceptionally(cause);
            end(ClaimEnd.TAKEN_AWAY);
        }
    }

    @Override
    public void close() {
        isClosed = true;
        session.execute(() -> {
            if (state == State.HELD) {
                giveBack(ClaimEnd.RELEASED);
            }
        });
    }

    private void giveBack(ClaimEnd why) {
        session.metrics().count("queue.return", layout.path().toString());
        end(why); // first: from the moment when the server hears of it the item may be another's
        ClaimRelease.of(session, layout, name, version);
    }

    private void end(ClaimEnd why) {
        if (state == State.ENDED) {
            return;
        }
        become(State.ENDED);
        deadline.cancel();
        sessionListener.close();
        String what = name.name() + " of " + layout.path();
        session.metrics()
                .count(
                        why == ClaimEnd.ACKNOWLEDGED ? "queue.acknowledge" : "queue.unacknowledged",
                        layout.path().toString());
        switch (why) {
            case ACKNOWLEDGED -> acknowledged.complete(null);
            case RELEASED -> acknowledged.completeExceptionally(new ClosedException("Given back: " + what));
            case DEADLINE_PASSED ->
                acknowledged.completeExceptionally(lostException(
                        LossReason.TIME_OVER,
                        "Not acknowledged within " + Waiting.text(term.visibility()) + ": " + what));
            case SESSION_LOST ->
                acknowledged.completeExceptionally(
                        new SessionGoneException("The session was lost while working on " + what));
            case TAKEN_AWAY ->
                acknowledged.completeExceptionally(lostException(
                        LossReason.NODE_DELETED,
                        "The claim or the item was deleted or written by another client: " + what));
            case COORDINATOR_CLOSED ->
                acknowledged.completeExceptionally(
                        new ClosedException("The coordinator was closed while working on " + what));
        }
        ended.complete(why);
    }

    private GrantLostException lostException(LossReason reason, String message) {
        return new GrantLostException(reason, layout.path().toString(), message);
    }

    @Override
    public CompletableFuture<ClaimEnd> ended() {
        return told.copy();
    }

    @Override
    public String toString() {
        return "Claim[" + layout.item(name) + ", delivery " + version + ", " + state + "]";
    }
}
