package io.conclave.commit;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.Retry;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.spi.SerialExecutor;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One site's part in one transaction, during one session; the next session begins it anew from what stands at the
 * backend.
 *
 * <p>How it goes:
 *
 * <ol>
 *   <li>Read the transaction, make the own presence, read the own vote. From here on the decision is watched for
 *       ({@link DecisionWait}).
 *   <li>No vote yet: have the participant prepare, and vote. A vote against is given in one transaction with the
 *       decision to abort. A vote is written once: the first version of the znode is replaced, and nothing is written
 *       after.
 *   <li>When it is decided, have the participant commit or abort, again and again until it has.
 *   <li>Finished: delete the presence, the vote, and the entry in the site's inbox. Until then every process that joins
 *       as this site takes it up again.
 * </ol>
 *
 * <p>State belongs to the session's dispatcher; the participant is called on listener threads, one call at a time.
 */
final class ParticipantTransaction {
    private static final Logger LOG = LoggerFactory.getLogger(ParticipantTransaction.class);
    private static final int DECISION_INDEX = 1; // in the transaction of a vote against

    private final JoinedSite site;
    private final RecipeSession session;
    private final TransactionLayout layout;
    private final SerialExecutor calls;
    private final boolean isOpen;
    private @Nullable DecisionWait deciding;
    private TransactionPart transaction;
    private Optional<Decision> decision = Optional.empty();
    private boolean isFinishing;
    private boolean ended;

    /**
     * Nothing is sent yet.
     *
     * @param calls runs what the participant does
     * @param isOpen false if another process of this site has finished it, and only the decision is to be told here
     * @param known what the participant was asked to prepare in a former session; without a payload if it was not asked
     */
    ParticipantTransaction(
            JoinedSite site,
            RecipeSession session,
            TransactionLayout layout,
            SerialExecutor calls,
            boolean isOpen,
            TransactionPart known) {
        this.site = site;
        this.session = session;
        this.layout = layout;
        this.calls = calls;
        this.isOpen = isOpen;
        this.transaction = known;
    }

    void begin() {
        if (!ended) {
            session.send(
                    GetData.of(layout.path()),
                    this::onTransaction,
                    Failures.ifNoNode(this::onGone, cause -> onFailure(cause, this::begin)));
        }
    }

    /** Finished by others; what this process was asked to prepare is told the decision. */
    private void onGone() {
        if (site.hasAsked(transaction)) {
            readOutcome();
        } else {
            finish();
        }
    }

    private void onTransaction(GetData.NodeData node) {
        if (ended) {
            return;
        }
        Optional<TransactionRecord> record = TransactionRecord.parse(node.data());
        if (record.isEmpty()) {
            LOG.error("{}: the data of {} is no transaction; it is left alone", this, layout.path());
            return;
        }
        transaction = new TransactionPart(layout.id(), site.name(), record.get().payload());
        DecisionWait decide = new DecisionWait(
                session, layout, record.get().sites(), this::onDecided, cause -> onFailure(cause, this::begin));
        deciding = decide;
        if (isOpen) {
            makePresence();
            readVote();
        }
        decide.begin(
                record.get().propagation() == Propagation.EVERYONE_WATCHES,
                record.get().voteTimeout());
    }

    private void makePresence() {
        if (!ended && !isFinishing) {
            session.send(presence(), created -> {}, cause -> {
                if (Failures.is(cause, RefusalReason.NODE_EXISTS)) {
                    lookWhose();
                } else if (!Failures.isNoNode(cause)) { // of a transaction that was deleted the decision's watch tells
                    onFailure(cause, this::makePresence);
                }
            });
        }
    }

    private Create presence() {
        return Create.of(layout.presence(site.name())).withMode(CreateMode.EPHEMERAL);
    }

    private void lookWhose() {
        session.send(
                Exists.of(layout.presence(site.name())), this::onWhose, cause -> onFailure(cause, this::makePresence));
    }

    /** That of a former process of this site gives way in one transaction, so that no one sees the site gone. */
    private void onWhose(Optional<NodeStat> stat) {
        boolean isOurs =
                stat.filter(there -> there.ephemeralOwner() == session.id()).isPresent(); // the reply was lost
        if (ended || isFinishing || isOurs) {
            return;
        }
        if (stat.isPresent()) {
            session.send(Multi.of(Delete.of(layout.presence(site.name())), presence()), results -> {}, cause -> {
                if (Failures.isStateChanged(cause)) {
                    makePresence();
                } else {
                    onFailure(cause, this::makePresence);
                }
            });
        } else {
            makePresence();
        }
    }

    private void readVote() {
        if (!ended) {
            session.send(GetData.of(layout.vote(site.name())), this::onVote, cause -> {
                if (!Failures.isNoNode(cause)) { // else another process of this site has finished it
                    onFailure(cause, this::readVote);
                }
            });
        }
    }

    private void onVote(GetData.NodeData node) {
        boolean isOver = ended || decision.isPresent(); // a vote would come too late
        if (VoteWatch.stateOf(node.data()) == VoteWatch.State.NONE && !isOver) {
            site.asks(transaction);
            calls.execute(this::prepare);
        } // else it was given, by us or by a former process of this site, and binds us
    }

    /** On a listener thread. */
    private void prepare() {
        if (!site.isCurrent(this)) {
            return;
        }
        Vote vote = Vote.ABORT;
        String reason = site.name() + " has voted to abort";
        try {
            vote = Objects.requireNonNull(site.participant().prepare(transaction), "the participant gave no vote");
        } catch (Exception | Error e) {
            LOG.warn("{}: the participant cannot prepare: a vote to abort", this, e);
            reason = site.name() + " could not prepare: " + e;
        }
        Vote given = vote;
        String why = reason;
        session.execute(() -> vote(given, why));
    }

    private void vote(Vote vote, String reason) {
        if (ended || decision.isPresent()) {
            return;
        }
        SetData set =
                SetData.of(layout.vote(site.name()), VoteWatch.bytesOf(vote)).withVersion(0);
        if (vote == Vote.COMMIT) {
            session.send(set, stat -> {}, cause -> onVoteFailed(cause, vote, reason));
        } else {
            session.send(
                    Multi.of(
                            set,
                            Create.of(layout.decision())
                                    .withData(Decision.abort(reason).toBytes())),
                    results -> {},
                    cause -> onVoteFailed(cause, vote, reason));
        }
    }

    private void onVoteFailed(Throwable cause, Vote vote, String reason) {
        if (Failures.is(cause, RefusalReason.NODE_EXISTS, DECISION_INDEX)) {
            LOG.debug("{}: was decided before the vote", this);
        } else if (Failures.isNoNode(cause)) {
            finishedByOthers();
        } else if (!Failures.isStateChanged(cause)) { // else it was given already
            onFailure(cause, () -> vote(vote, reason)); // the version makes sure that it is given once
        }
    }

    /**
     * Another process of this site has finished it, perhaps while this one was away between reading the vote and giving
     * it. If the participant was asked to prepare here too, it learns the decision here too.
     */
    void finishedByOthers() {
        if (ended || decision.isPresent()) {
            return; // the participant is being told
        }
        if (site.hasAsked(transaction)) {
            session.send(
                    Exists.of(layout.path()),
                    stat -> {
                        if (stat.isEmpty()) {
                            readOutcome();
                        } // else the decision is there, or comes
                    },
                    cause -> onFailure(cause, this::finishedByOthers));
        } else {
            leave();
            site.finished(this);
        }
    }

    /** The transaction is gone: finished, or deleted by an operator, and then only the entry is left. */
    private void readOutcome() {
        if (!ended) {
            session.send(
                    GetData.of(layout.record()),
                    node -> DecisionRecord.parse(node.data())
                            .ifPresentOrElse(record -> onDecided(record.decision()), this::finish),
                    Failures.ifNoNode(this::finish, cause -> onFailure(cause, this::readOutcome)));
        }
    }

    private void onDecided(Decision what) {
        if (!ended && decision.isEmpty()) {
            decision = Optional.of(what);
            calls.execute(() -> apply(what));
        }
    }

    /** On a listener thread. */
    private void apply(Decision what) {
        if (!site.isCurrent(this)) {
            return;
        }
        try {
            if (what.isCommit()) {
                site.participant().commit(transaction);
            } else {
                site.participant().abort(transaction);
            }
        } catch (Exception | Error e) {
            LOG.error("{}: the participant failed at {}; calling it again", this, what, e);
            session.metrics().count("commit.participant.failed", layout.path().toString());
            session.time().schedule(Retry.delay(e), () -> calls.execute(() -> apply(what)));
            return;
        }
        if (site.isCurrent(this)) { // else the next session may have asked again
            site.told(transaction);
        }
        session.execute(this::finish);
    }

    private void finish() {
        if (ended) {
            return;
        }
        if (!isFinishing) {
            isFinishing = true;
            deletePresence(); // first, so that nothing of the site is left when its vote is gone
        }
        session.send(
                Multi.of(Delete.of(layout.entry(site.name())), Delete.of(layout.vote(site.name()))),
                results -> finished(),
                Failures.ifNoNode(this::deleteEntry, cause -> onFailure(cause, this::finish)));
    }

    /**
     * The reply was lost, or another process of this site has finished it, or the transaction was deleted by an
     * operator.
     */
    private void deleteEntry() {
        session.send(
                Delete.of(layout.entry(site.name())),
                done -> finished(),
                Failures.ifNoNode(this::finished, cause -> onFailure(cause, this::deleteEntry)));
    }

    private void finished() {
        if (!ended) {
            end();
            LOG.debug("{}: finished: {}", this, decision);
            site.finished(this);
        }
    }

    private void onFailure(Throwable cause, Runnable again) {
        if (!ended) {
            CommitMetrics.failed(session, layout, cause);
            Retry.always(session, this, cause, again);
        }
    }

    String id() {
        return layout.id();
    }

    /** Its session has ended, or it is finished by others. */
    void end() {
        ended = true;
        DecisionWait last = deciding;
        if (last != null) {
            last.stop();
        }
    }

    /** The site takes part no longer: others shall see that at once. */
    void leave() {
        if (!ended) {
            end();
            deletePresence();
        }
    }

    private void deletePresence() {
        session.send(Delete.of(layout.presence(site.name())), done -> {}, cause -> {
            if (cause instanceof OutcomeUnknownException) {
                deletePresence();
            } // later it may be that of another process of this site
        });
    }

    @Override
    public String toString() {
        return transaction.toString();
    }
}
