package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ConclaveException;
import io.conclave.error.LossReason;
import io.conclave.grant.FencingToken;
import io.conclave.line.Contender;
import io.conclave.line.StagedRequest;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One caller's request for a kept place, and then its turn with it. Its stages complete on the dispatcher, or on the
 * thread of the caller who had the place before.
 */
final class KeptRequest extends StagedRequest {
    private final KeptPlace place;
    private final boolean patient;
    private volatile @Nullable Turn turn; // written once, by the place

    /** What it was given. */
    private record Turn(Contender contender, FencingToken token) {}

    KeptRequest(KeptPlace place, boolean patient) {
        this.place = place;
        this.patient = patient;
    }

    // What the place tells.

    /** It has the place now, before it is told so. */
    void take(Contender contender, FencingToken token) {
        turn = new Turn(contender, token);
    }

    void tellGranted() {
        granted.complete(null);
    }

    /** It will not have the place, and nothing is left of it when this stage completes. */
    void tellFailed(Throwable why, CompletionStage<Void> left) {
        left.thenRun(() -> gone.complete(null));
        granted.completeExceptionally(why);
    }

    void tellLost(LossReason reason) {
        lost.complete(reason);
        gone.complete(null);
    }

    /** It was given back, and nothing is left of it when this stage completes. */
    void tellReleased(CompletionStage<Void> left) {
        lost.complete(LossReason.RELEASED);
        left.thenRun(() -> gone.complete(null));
    }

    void tellAskedToGiveUp() {
        revocation.complete(null);
    }

    boolean isPatient() {
        return patient;
    }

    // What the grant asks.

    FencingToken token() {
        return turn().token;
    }

    NodePath path() {
        return turn().contender.path().orElseThrow();
    }

    /** A guard may check the znode from now on, and could not tell this turn from the next. */
    boolean keepsNoLonger() {
        return place.keepsNoLonger(this, turn().contender);
    }

    private Turn turn() {
        Turn present = turn;
        if (present == null) {
            throw new IllegalStateException("There is no grant yet: " + this);
        }
        return present;
    }

    // What every request answers.

    @Override
    public RecipeSession session() {
        return place.session();
    }

    @Override
    public Optional<LossReason> lossReason() {
        Turn present = turn;
        Optional<LossReason> own = Optional.ofNullable(lost.getNow(null));
        return own.isPresent() || present == null ? own : present.contender.lossReason();
    }

    @Override
    public Duration remaining() {
        Turn present = turn;
        return present == null || lost.isDone() ? Duration.ZERO : present.contender.remaining();
    }

    @Override
    public void watchForLoss() {
        Turn present = turn;
        if (present != null) {
            present.contender.watchForLoss();
        }
    }

    @Override
    public CompletionStage<Void> leave(ConclaveException why) {
        place.leave(this, why);
        return gone;
    }

    @Override
    public void giveUpWaiting(ConclaveException why) {
        place.giveUpWaiting(this, why);
    }

    @Override
    public String what() {
        return place.path().toString();
    }

    @Override
    public AcquireTimeoutException timedOut(Duration waited) {
        return place.timedOut(waited);
    }

    @Override
    public void timeIsRunningOut() {
        place.timeIsRunningOut();
    }

    @Override
    public String toString() {
        Turn present = turn;
        return present == null ? place + " (waiting)" : place + " (token " + present.token + ")";
    }
}
