package io.conclave.commit;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.line.StagedRequest;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.SessionFollower;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinating side of one transaction, through all sessions of its coordinator: has it begun ({@link Beginning}),
 * waits for its decision, and deletes it when all sites have finished.
 *
 * <p>State belongs to the dispatcher of the current session.
 */
final class TransactionCoordinator extends StagedRequest implements Beginning.Caller, SessionFollower.Work {
    private static final Logger LOG = LoggerFactory.getLogger(TransactionCoordinator.class);

    private final SessionFollower follower;
    private final TransactionLayout layout;
    private final TransactionRecord record;
    private final Beginning beginning;
    private final long beganNanos;
    private @Nullable DecisionWait deciding;
    private volatile @Nullable Decision outcome; // also if no caller waits for it; written on a dispatcher only
    private boolean isBegun;
    private boolean isAbandoned;
    private boolean hasFailed; // and only the ticket is left

    TransactionCoordinator(Coordinator coordinator, TransactionLayout layout, TransactionRecord record) {
        this.follower = new SessionFollower(coordinator, this);
        this.layout = layout;
        this.record = record;
        this.beginning = new Beginning(layout, record, this);
        this.beganNanos = session().time().monotonicNanos();
    }

    /** Begins, or goes on. Never blocks; any thread. */
    void begin() {
        follower.follow();
    }

    @Override
    public RecipeSession session() {
        return follower.session();
    }

    @Override
    public void onSession(RecipeSession next) {
        Decision known = outcome;
        if (known != null) {
            cleanUp(next, known);
        } else if (hasFailed) {
            returnTicket(next);
        } else if (isBegun) {
            beginning.look(next); // others may have finished it, and begun another one of this id
        } else {
            beginning.goOn(next);
        }
    }

    @Override
    public void onSessionEnded() {
        DecisionWait last = deciding;
        if (last != null) {
            last.stop();
        }
    }

    @Override
    public void onClosed() {
        ClosedException closed =
                new ClosedException("The coordinator was closed before " + layout.path() + " was decided");
        boolean isNothingSent = !isBegun && !beginning.mayHaveBegun();
        granted.completeExceptionally(
                isNothingSent ? closed : beginning.unknown("the coordinator was closed before it was decided", closed));
        gone.complete(null);
    }

    @Override
    public boolean isCurrent(RecipeSession on) {
        return follower.isCurrent(on);
    }

    @Override
    public boolean isAbandoned() {
        return isAbandoned;
    }

    @Override
    public void begun(RecipeSession on) {
        isBegun = true;
        LOG.debug("{}: begun", this);
        decide(on);
    }

    private void decide(RecipeSession on) {
        Duration spent = Duration.ofNanos(on.time().monotonicNanos() - beganNanos);
        DecisionWait next = new DecisionWait(
                on,
                layout,
                record.sites(),
                decision -> onDecided(on, decision),
                cause -> onDecisionNotKnown(on, cause));
        deciding = next;
        next.begin(true, record.voteTimeout().minus(spent));
        if (isAbandoned) {
            next.abort("given up by its initiator");
        }
    }

    private void onDecisionNotKnown(RecipeSession on, Throwable cause) {
        if (cause instanceof OutcomeUnknownException) {
            beginning.look(on); // others have finished it
        } else {
            failed(beginning.unknown("to decide was refused", cause));
        }
    }

    private void onDecided(RecipeSession on, Decision decision) {
        answer(decision);
        cleanUp(on, decision);
    }

    @Override
    public void recorded(Decision decision) {
        answer(decision);
        follower.end();
    }

    private void answer(Decision decision) {
        Duration spent = Duration.ofNanos(session().time().monotonicNanos() - beganNanos);
        String transaction = layout.path().toString();
        session().metrics().duration("commit.decide", transaction, spent);
        session().metrics().count(decision.isCommit() ? "commit.committed" : "commit.aborted", transaction);
        outcome = decision;
        granted.complete(null);
        gone.complete(null);
    }

    private void cleanUp(RecipeSession on, Decision decision) {
        new Cleanup(on, layout, record.decided(decision), true, follower::end).begin();
    }

    @Override
    public void failed(Throwable cause) {
        hasFailed = true;
        granted.completeExceptionally(cause);
        returnTicket(session());
    }

    private void returnTicket(RecipeSession on) {
        beginning.returnTicket(on, () -> {
            follower.end();
            gone.complete(null);
        });
    }

    /** What was decided; once it is granted. Any thread. */
    Decision decision() {
        return Objects.requireNonNull(outcome);
    }

    /** No caller waits for the decision any more: it is to abort, if it is not made yet. */
    @Override
    public CompletionStage<Void> leave(ConclaveException why) {
        follower.execute(() -> {
            if (granted.completeExceptionally(why)) {
                isAbandoned = true;
                DecisionWait current = deciding;
                if (current != null) {
                    current.abort("given up by its initiator");
                }
            }
        });
        return gone;
    }

    @Override
    public void giveUpWaiting(ConclaveException why) {
        leave(why);
    }

    @Override
    public String toString() {
        return "TransactionCoordinator[" + layout.path() + " at " + record.sites() + "]";
    }
}
