package io.conclave.commit;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.Retry;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.Watcher;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for the decision of one transaction during one session, and makes it when it may be made.
 *
 * <p>How it goes:
 *
 * <ol>
 *   <li>Watch for the decision. Once it is there it is read, and that is all.
 *   <li>A process that watches votes watches every site's vote, and its presence until it has voted. All have voted to
 *       commit: create the decision, in one transaction that checks every vote. One has voted to abort, or a site that
 *       was seen is gone without a vote: create the decision to abort.
 *   <li>A process that does not watches for the coordinating session; when that is gone it reads the votes, and decides
 *       by what stands there.
 *   <li>The deadline is over: decide to abort.
 * </ol>
 *
 * <p>Nothing else is needed for atomicity: the decision is created once, so of many that decide one wins, and the
 * others read its decision. A lost reply is answered by a read. State belongs to the session's dispatcher.
 */
final class DecisionWait {
    private static final Logger LOG = LoggerFactory.getLogger(DecisionWait.class);

    private final RecipeSession session;
    private final TransactionLayout layout;
    private final List<VoteWatch> votes;
    private final Consumer<Decision> onDecided;
    private final Consumer<Throwable> onFailed;
    private final Watcher decisionWatcher = event -> look();
    private final Watcher coordinatorWatcher = event -> lookForCoordinator();
    private TimeSource.Timer deadline = () -> {};
    private boolean watchesVotes;
    private boolean coordinatorIsGone;
    private boolean creating;
    private boolean isConfirming; // that a decision which must have been there is still there
    private Optional<String> abortAfterwards = Optional.empty(); // if what is being created is not taken
    private boolean ended;

    /**
     * Nothing is sent yet.
     *
     * @param onDecided called on the dispatcher, once
     * @param onFailed called on the dispatcher if the decision cannot be known; not of the session's end
     */
    DecisionWait(
            RecipeSession session,
            TransactionLayout layout,
            List<String> sites,
            Consumer<Decision> onDecided,
            Consumer<Throwable> onFailed) {
        this.session = session;
        this.layout = layout;
        this.onDecided = onDecided;
        this.onFailed = onFailed;
        this.votes = sites.stream().map(site -> new VoteWatch(this, site)).toList();
    }

    RecipeSession session() {
        return session;
    }

    TransactionLayout layout() {
        return layout;
    }

    boolean isEnded() {
        return ended;
    }

    /**
     * Begins.
     *
     * @param untilDeadline how long votes are waited for from now
     */
    void begin(boolean withVotes, Duration untilDeadline) {
        watchesVotes = withVotes;
        deadline = session.time()
                .schedule(
                        untilDeadline.isNegative() ? Duration.ZERO : untilDeadline,
                        () -> session.execute(() -> abort("votes were missing when their time was over")));
        look();
        if (withVotes) {
            votes.forEach(VoteWatch::begin);
        } else {
            lookForCoordinator();
        }
    }

    private void look() {
        if (!ended) {
            session.send(
                    Exists.of(layout.decision()).withWatcher(decisionWatcher),
                    stat -> {
                        if (stat.isPresent()) {
                            read();
                        }
                    },
                    cause -> onFailure(cause, this::look));
        }
    }

    private void read() {
        if (!ended) {
            session.send(
                    GetData.of(layout.decision()),
                    node -> decided(Decision.parse(node.data())),
                    cause -> onFailure(cause, this::read));
        }
    }

    private void lookForCoordinator() {
        if (!ended && !watchesVotes) {
            session.send(
                    Exists.of(layout.coordinator()).withWatcher(coordinatorWatcher),
                    this::onCoordinator,
                    cause -> onFailure(cause, this::lookForCoordinator));
        }
    }

    private void onCoordinator(Optional<NodeStat> stat) {
        if (ended || watchesVotes || stat.isPresent()) {
            return;
        }
        LOG.debug("{}: the coordinating session is gone", this);
        watchesVotes = true;
        coordinatorIsGone = true;
        votes.forEach(VoteWatch::begin);
    }

    /** A vote was read, or will never come. */
    void evaluate() {
        if (ended || creating) {
            return;
        }
        Optional<String> against = votes.stream()
                .filter(vote -> vote.state() == VoteWatch.State.ABORT)
                .map(VoteWatch::site)
                .findFirst();
        if (against.isPresent()) {
            abort(against.get() + " has voted to abort");
        } else if (votes.stream().allMatch(vote -> vote.state() == VoteWatch.State.COMMIT)) {
            commit();
        } else if (coordinatorIsGone && votes.stream().noneMatch(vote -> vote.state() == VoteWatch.State.UNKNOWN)) {
            abort("the coordinating process is gone, and votes are missing");
        }
    }

    /**
     * A vote is not there any more, so there was a decision. It may have gone as well, with the transaction, and then
     * the watch for its coming does not fire any more: a process that tries to decide learns so.
     */
    void siteHasFinished() {
        if (ended || isConfirming) {
            return;
        }
        isConfirming = true;
        session.send(GetData.of(layout.decision()), node -> decided(Decision.parse(node.data())), cause -> {
            isConfirming = false;
            if (Failures.isNoNode(cause)) {
                abort("a vote was deleted");
            } else {
                onFailure(cause, this::siteHasFinished);
            }
        });
    }

    /** A site that was seen is gone, and has not voted. */
    void siteIsGone(String site) {
        abort(site + " is gone and has not voted");
    }

    private void commit() {
        List<Operation<?>> operations = new ArrayList<>();
        votes.forEach(vote -> operations.add(new Check(layout.vote(vote.site()), vote.version())));
        operations.add(Create.of(layout.decision()).withData(Decision.COMMIT.toBytes()));
        creating = true;
        session.send(new Multi(operations), results -> made(Decision.COMMIT), cause -> {
            creating = false;
            if (Failures.is(cause, RefusalReason.NODE_EXISTS)) {
                read(); // others have decided
            } else if (Failures.isNoNode(cause)) {
                siteHasFinished();
            } else if (Failures.isStateChanged(cause)) {
                look(); // a vote that was written does not change, unless another client writes it
                abortAfterwards.ifPresent(this::abort);
            } else {
                onFailure(cause, this::evaluate);
            }
        });
    }

    /** Decides to abort, unless it is decided already. On the dispatcher. */
    void abort(String reason) {
        if (ended) {
            return;
        }
        if (creating) {
            abortAfterwards = Optional.of(reason);
            return;
        }
        Decision decision = Decision.abort(reason);
        creating = true;
        session.send(Create.of(layout.decision()).withData(decision.toBytes()), created -> made(decision), cause -> {
            creating = false;
            if (Failures.is(cause, RefusalReason.NODE_EXISTS)) {
                read();
            } else {
                onFailure(cause, () -> abort(reason));
            }
        });
    }

    private void made(Decision decision) {
        LOG.debug("{}: decided: {}", this, decision);
        decided(decision);
    }

    private void decided(Decision decision) {
        if (!ended) {
            end(coordinatorIsGone); // then it may be long until the transaction is finished
            onDecided.accept(decision);
        }
    }

    /** Goes on after a failure. */
    void onFailure(Throwable cause, Runnable again) {
        if (ended || Failures.isSessionOver(cause)) {
            return; // the session's state tells what follows
        }
        CommitMetrics.failed(session, layout, cause);
        Retry.ifItMayPass(session, this, cause, again, refusal -> {
            stop();
            onFailed.accept(
                    Failures.isNoNode(refusal)
                            ? new OutcomeUnknownException(
                                    "The transaction " + layout.path() + " was finished and deleted by others", refusal)
                            : refusal);
        });
    }

    /** Nothing more is decided or reported. */
    void stop() {
        if (!ended) {
            end(true);
        }
    }

    /**
     * Ends it.
     *
     * @param removesAll whether watches are removed that fire when the transaction is finished, too
     */
    private void end(boolean removesAll) {
        ended = true;
        deadline.cancel();
        votes.forEach(vote -> vote.removeWatches(removesAll));
        if (removesAll) {
            session.unwatch(layout.decision(), decisionWatcher);
            session.unwatch(layout.coordinator(), coordinatorWatcher);
        }
    }

    @Override
    public String toString() {
        return "DecisionWait[" + layout.path() + "]";
    }
}
