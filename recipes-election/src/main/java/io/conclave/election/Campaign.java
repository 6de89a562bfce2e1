package io.conclave.election;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.SessionGoneException;
import io.conclave.line.Contender;
import io.conclave.line.GrantProgress;
import io.conclave.line.GrantRequest;
import io.conclave.line.LineRole;
import io.conclave.line.LossInterrupt;
import io.conclave.line.StagedRequest;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One candidate's way to leadership, and its leadership: a place in the line, or several one after the other if it is
 * asked to step back, and the {@link LeaderNode} when it has become the first. However it ends, nothing stays behind.
 *
 * <p>State belongs to the session's dispatcher; the methods of {@link GrantRequest} may be called from any thread.
 */
final class Campaign extends StagedRequest {
    private static final Logger LOG = LoggerFactory.getLogger(Campaign.class);
    private static final LineRole PLACE = LineRole.mutex("election");

    /** Before a superseded candidate enters again: the larger token may stand there until its owner's session ends. */
    private static final Duration PAUSE_WHEN_SUPERSEDED = Duration.ofMillis(100);

    private final RecipeSession session;
    private final NodePath election;
    private final byte[] data;
    private final long beganNanos;
    private final GrantProgress progress;
    private final ClosedException steppedBack = new ClosedException("Stepped back");
    private CompletionStage<Void> formerGone = CompletableFuture.completedFuture(null);

    // Written on the dispatcher only.
    private volatile CampaignState state = CampaignState.IN_LINE;
    private volatile @Nullable Contender contender;
    private @Nullable LeaderNode leaderNode;
    private boolean asked; // to give up the present place
    private final List<TransferAttempt> transfers = new ArrayList<>(); // under way

    private volatile @Nullable LossInterrupt resigner; // the work that has asked for the end

    private Campaign(RecipeSession session, NodePath election, byte[] data) {
        this.session = session;
        this.election = election;
        this.data = data;
        this.beganNanos = session.time().monotonicNanos();
        this.progress = new GrantProgress(session.metrics(), election.toString());
    }

    /** Enters the line. Never blocks. */
    static Campaign begin(RecipeSession session, NodePath election, byte[] data) {
        Campaign campaign = new Campaign(session, election, data);
        campaign.progress.waits("election.campaign");
        session.execute(campaign::enter);
        return campaign;
    }

    private void enter() {
        Contender place = Contender.enter(session, election, PLACE, data, progress.origin());
        contender = place;
        leaderNode = null;
        asked = false;
        Waiting.whenDone(place.granted(), turn -> onTurn(place), cause -> onNoTurn(place, cause));
        place.mustWait().thenRun(() -> mustWait.complete(null));
        place.revocationRequested().thenRun(() -> onAsked(place));
    }

    private void onTurn(Contender place) {
        if (state == CampaignState.ENDED) {
            return; // it is being left
        }
        become(CampaignState.ACKNOWLEDGING);
        if (asked) {
            revocation.complete(null); // the turn was quicker than the word
        }
        LeaderNode ours = new LeaderNode(place, election, data);
        leaderNode = ours;
        place.lost().thenAccept(reason -> onLost(place, ours, reason));
        ours.make().whenComplete((made, failure) -> {
            if (state != CampaignState.ACKNOWLEDGING) {
                return;
            }
            if (failure == null) {
                lead(place);
            } else if (ours.isSuperseded()) {
                place.leave(steppedBack);
                enterAgainAfterPause(place);
            } else {
                end(Waiting.cause(failure));
            }
        });
    }

    private void lead(Contender place) {
        become(CampaignState.LEADING);
        long lastedNanos = session.time().monotonicNanos() - beganNanos;
        session.metrics().duration("election.campaign", election.toString(), Duration.ofNanos(lastedNanos));
        progress.happened();
        LOG.info("{}: leading with the token {}", this, place.token());
        granted.complete(null);
    }

    // So far a leader is elected. From here on, what can come in between, and the end.

    /** A leader is asked by the same word, and need not answer; a waiting candidate steps back. */
    private void onAsked(Contender place) {
        if (place != contender) {
            return;
        }
        asked = true;
        if (state == CampaignState.IN_LINE) {
            place.giveUpWaiting(steppedBack);
        } else {
            revocation.complete(null);
        }
    }

    private void onNoTurn(Contender place, Throwable cause) {
        if (state == CampaignState.ENDED) {
            return;
        }
        if (cause == steppedBack) {
            LOG.info("{}: asked to step back, entering the line again", this);
            session.metrics().count("election.steppedback", election.toString());
            enterAgain(place);
        } else {
            end(cause);
        }
    }

    /** The new creation goes out behind the deletion of the place that was given up. */
    private void enterAgain(Contender former) {
        giveUpPlace(former);
        enter();
    }

    private void enterAgainAfterPause(Contender former) {
        giveUpPlace(former);
        mustWait.complete(null); // who asks why finds no place
        session.time()
                .schedule(
                        PAUSE_WHEN_SUPERSEDED,
                        () -> session.execute(() -> {
                            if (state == CampaignState.IN_LINE) {
                                enter();
                            }
                        }));
    }

    private void giveUpPlace(Contender former) {
        become(CampaignState.IN_LINE);
        contender = null; // its end is no loss
        formerGone = both(formerGone, former.gone());
    }

    private void onLost(Contender place, LeaderNode ours, LossReason reason) {
        ours.withdraw();
        if (place != contender) {
            return; // stepped back
        }
        if (state == CampaignState.ACKNOWLEDGING) {
            end(failureOf(reason));
        } else if (state == CampaignState.LEADING) {
            end(new ClosedException("Lost"));
        }
        lost.complete(reason);
        List.copyOf(transfers).forEach(one -> one.onLost(reason));
    }

    /**
     * Changes what observers see of the leader. Never blocks; any thread. Completes on the dispatcher, exceptionally
     * with {@link GrantLostException} if it does not lead any more.
     */
    CompletionStage<Void> update(byte[] newData) {
        CompletableFuture<Void> outcome = new CompletableFuture<>();
        session.execute(() -> {
            LeaderNode present = leaderNode;
            if (state != CampaignState.LEADING || present == null) {
                failAsLost(outcome);
                return;
            }
            present.update(newData).whenComplete((written, failure) -> {
                if (failure != null) {
                    outcome.completeExceptionally(failure);
                } else if (written) {
                    outcome.complete(null);
                } else {
                    failAsLost(outcome);
                }
            });
        });
        return outcome;
    }

    private void failAsLost(CompletableFuture<Void> update) {
        lost.thenAccept(reason -> update.completeExceptionally(new GrantLostException(
                reason,
                election.toString(),
                "The leadership of " + election + " ended (" + reason + ") before its data was changed")));
    }

    /** It learns of the loss of the leadership, until it ends. On the dispatcher. */
    void begins(TransferAttempt transfer) {
        transfers.add(transfer);
        if (lost.isDone()) {
            transfer.onLost(lost.join());
        }
    }

    /** On the dispatcher. */
    void ends(TransferAttempt transfer) {
        transfers.remove(transfer);
    }

    private ConclaveException failureOf(LossReason reason) {
        String what = " before it could acknowledge that it leads " + election;
        return switch (reason) {
            case SESSION_LOST -> new SessionGoneException("The candidate's session was lost" + what);
            case COORDINATOR_CLOSED -> new ClosedException("The candidate's coordinator was closed" + what);
            case RELEASED, NODE_DELETED, REVOKED, REFUSED, TIME_OVER ->
                new GrantLostException(
                        reason, election.toString(), "The candidate's place was lost (" + reason + ")" + what);
        };
    }

    /**
     * Nothing more comes; its leader node is not deleted after the place, so that the successor finds the name free.
     */
    private void end(Throwable cause) {
        if (state == CampaignState.ENDED) {
            return;
        }
        become(CampaignState.ENDED);
        ConclaveException why =
                cause instanceof ConclaveException known ? known : new ClosedException("Failed: " + cause);
        boolean isClosed = session.state() == SessionState.CLOSED;
        progress.notGranted(cause, isClosed ? LossReason.COORDINATOR_CLOSED : LossReason.RELEASED);
        CompletionStage<Void> last = formerGone;
        Contender place = contender;
        if (place != null && leaderNode != null) {
            last = both(last, leaderNode.withdrawWith(place, why));
        }
        if (place != null) {
            last = both(last, place.leave(why));
        }
        last.thenRun(() -> gone.complete(null));
        granted.completeExceptionally(cause);
    }

    private static CompletionStage<Void> both(CompletionStage<Void> first, CompletionStage<Void> second) {
        return first.thenCombine(second, (before, after) -> null);
    }

    private void become(CampaignState next) {
        if (!state.mayBecome(next)) {
            throw new IllegalStateException(this + " cannot go from " + state + " to " + next);
        }
        state = next;
    }

    @Override
    public RecipeSession session() {
        return session;
    }

    @Override
    public Duration remaining() {
        Contender place = contender;
        return state == CampaignState.LEADING && place != null ? place.remaining() : Duration.ZERO;
    }

    @Override
    public void watchForLoss() {
        Contender place = contender;
        if (place != null) {
            place.watchForLoss();
        }
    }

    @Override
    public CompletionStage<Void> leave(ConclaveException why) {
        return leaveFor(LossInterrupt.current(), why);
    }

    /** As {@link #leave}, for a caller within that work; null: outside of any. */
    CompletionStage<Void> leaveFor(@Nullable LossInterrupt requester, ConclaveException why) {
        if (state == CampaignState.LEADING && resigner == null) {
            resigner = requester;
        }
        session.execute(() -> end(why));
        return gone;
    }

    /** Whether the leadership was given up because this work, or work within it, has asked for it. Any thread. */
    boolean isResignedBy(LossInterrupt work) {
        LossInterrupt asking = resigner;
        return asking != null && asking.isWithin(work);
    }

    @Override
    public void giveUpWaiting(ConclaveException why) {
        session.execute(() -> {
            if (state != CampaignState.LEADING) {
                end(why);
            }
        });
    }

    @Override
    public String what() {
        return election.toString();
    }

    @Override
    public AcquireTimeoutException timedOut(Duration waited) {
        Contender place = contender;
        return new AcquireTimeoutException(
                what(),
                waited,
                place == null ? Optional.empty() : place.timedOut(waited).holder(),
                "Did not become the leader of " + election + " within " + Waiting.text(waited) + ": "
                        + (place == null ? superseded() : place.whyNotGranted()));
    }

    private String superseded() {
        return election.child(LeaderNode.NAME) + " is that of a leader with a token not smaller than this candidate's";
    }

    @Override
    public void timeIsRunningOut() {
        Contender place = contender;
        if (place != null) {
            place.timeIsRunningOut();
        }
    }

    /** The leader's place in the line. */
    Contender place() {
        Contender place = contender;
        if (place == null) {
            throw new IllegalStateException(this + " has no place in the line yet");
        }
        return place;
    }

    /** The election's znode. */
    NodePath election() {
        return election;
    }

    @Override
    public String toString() {
        Contender place = contender;
        return "Campaign for " + (place == null ? election : place) + ", " + state;
    }
}
