package io.conclave.election;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.grant.FencingToken;
import io.conclave.line.Contender;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.Retry;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.request.Watcher;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The znode {@code <path>/leader} of one leader: it is there when the leader knows that it leads. (The recipes page:
 * that a candidate is the first does not mean that it knows; a separate znode may acknowledge that it has executed the
 * leader procedure.)
 *
 * <p>How it goes:
 *
 * <ol>
 *   <li>It is created in one transaction with a check of the leader's own place in the line, so no candidate
 *       acknowledges that has been taken out of the line.
 *   <li>If there is one already it is ours (the reply was lost), or that of a former leader whose place an operator
 *       deleted while its session lived: that one is replaced, in one transaction with the same check. It can be no
 *       later leader's, because there is none while our place stands.
 *   <li>It is watched, and made again if it is deleted while we lead.
 *   <li>The leader changes its data by a transaction with the same check: see {@link LeaderUpdates}.
 *   <li>A leader that resigns deletes it in one transaction with its place. If the reply to that is lost, or somebody
 *       else has deleted one of the two, it deletes the node with the check, and then the place. A leader whose place
 *       is gone already compares what stands there first. In the round trip between that look and the deletion its
 *       successor may have replaced it; then the successor makes its own again.
 * </ol>
 *
 * <p>Can a candidate lead with an older token than the leader before it? Not by our line: places are granted in the
 * order of their numbers, and the backend gives numbers in the order of creation, also when the line itself was deleted
 * and made again. Only a client that creates a place with a number of its own choice could bring it about. If its
 * leader node is still there, we see from it that our token is older, and enter the line again ({@link #isSuperseded});
 * if it is gone, nothing remembers it, and the store's guard refuses the older token.
 *
 * <p>State belongs to the session's dispatcher.
 */
final class LeaderNode {
    /**
     * The znode's name below the election's path. It is no place in the line, and sorts behind all places for clients
     * that sort every child.
     */
    static final String NAME = "leader";

    private static final Logger LOG = LoggerFactory.getLogger(LeaderNode.class);

    /** The position of the own place's check in every transaction of a leader node. */
    static final int CHECK = 0;

    private static final int UNKNOWN = -1;

    private final RecipeSession session;
    private final FencingToken token;
    private final NodePath place;
    private final NodePath path;
    private final LeaderUpdates updates = new LeaderUpdates(this);
    private final Watcher watcher = this::onEvent;
    private final CompletableFuture<Void> made = new CompletableFuture<>();
    private final CompletableFuture<Void> withdrawn = new CompletableFuture<>();
    private byte[] record;
    private int version = UNKNOWN; // known while ours is there, as far as we have heard
    private boolean superseded;
    private boolean ended;

    /** The leader node of a contender that has been granted. */
    LeaderNode(Contender leader, NodePath election, byte[] data) {
        this.session = leader.session();
        this.token = leader.token();
        this.place = leader.path().orElseThrow();
        this.path = election.child(NAME);
        this.record = recordOf(data);
    }

    private byte[] recordOf(byte[] data) {
        return new LeaderRecord(token, place.name(), data).toBytes();
    }

    /**
     * Creates the znode. The stage completes on the dispatcher; not at all if the place or the session is lost, which
     * the contender tells of.
     */
    CompletionStage<Void> make() {
        create();
        return made;
    }

    /** Whether it could not be made because a former leader has a larger token. */
    boolean isSuperseded() {
        return superseded;
    }

    private void create() {
        if (!ended) {
            session.send(
                    Multi.of(Check.exists(place), creation()), results -> onMade(), cause -> onNotMade(cause, false));
        }
    }

    private Create creation() {
        return Create.of(path).withData(record).withMode(CreateMode.EPHEMERAL);
    }

    private void replace(int version) {
        session.send(
                Multi.of(Check.exists(place), Delete.of(path).withVersion(version), creation()),
                results -> {
                    session.metrics().count("election.acknowledgement.replaced", path.toString());
                    onMade();
                },
                cause -> onNotMade(cause, true));
    }

    private void onMade() {
        made.complete(null);
        watch();
    }

    private void onNotMade(Throwable cause, boolean replacing) {
        if (ended) {
            return;
        }
        if (Failures.is(cause, RefusalReason.NO_NODE, CHECK)) {
            LOG.debug("{}: our place {} is gone", path, place); // the contender learns of it as well
        } else if (cause instanceof OutcomeUnknownException) {
            create();
        } else if (Failures.is(cause, RefusalReason.NODE_EXISTS)) {
            readPresent();
        } else if (replacing && (Failures.isNoNode(cause) || Failures.is(cause, RefusalReason.BAD_VERSION))) {
            create(); // what we wanted to replace has gone, or was changed
        } else {
            fail(cause);
        }
    }

    /** A leader node is there. The server that is read from must have heard of ours, if it is that. */
    private void readPresent() {
        session.readLatest(path, GetData.of(path), this::onPresent, this::onPresentNotRead);
    }

    private void onPresentNotRead(Throwable cause) {
        if (ended) {
            return;
        }
        if (Failures.isNoNode(cause)) {
            create();
        } else {
            fail(cause);
        }
    }

    private void onPresent(GetData.NodeData present) {
        if (ended) {
            return;
        }
        Optional<FencingToken> former = LeaderRecord.parse(present.data()).map(LeaderRecord::token);
        if (isOurs(present)) {
            onMade();
        } else if (!present.stat().isEphemeral()) {
            fail(new RefusedException(
                    RefusalReason.NODE_EXISTS,
                    path + " is not the znode of a leader, because it is not ephemeral: the election needs the name"));
        } else if (supersedes(present, former)) {
            LOG.warn("{}: a leader had a token not smaller than ours, {}: entering the line again", path, token);
            superseded = true;
            fail(new ClosedException(
                    path + " is that of a leader with the token " + former.get() + ", not smaller than " + token));
        } else {
            LOG.info("{}: replacing what a former leader or another client left: {}", path, former);
            replace(present.stat().version());
        }
    }

    /**
     * Whether a leader whose token is not smaller than ours has left it. Once ours has been made, what stands there
     * instead is no leader's, because there is no other one while our place stands. And a znode of our session that has
     * our token is ours, changed by another client.
     */
    private boolean supersedes(GetData.NodeData present, Optional<FencingToken> former) {
        boolean isOursButChanged = present.stat().ephemeralOwner() == session.id() && former.equals(Optional.of(token));
        return !made.isDone()
                && !isOursButChanged
                && former.filter(one -> one.compareTo(token) >= 0).isPresent();
    }

    /** Whether it is as we have left it: with our record, or with the one that is being written. */
    private boolean isOurs(GetData.NodeData present) {
        return present.stat().ephemeralOwner() == session.id()
                && (present.bytes().contentEquals(record) || updates.isWriting(present.bytes()));
    }

    private void fail(Throwable cause) {
        if (made.completeExceptionally(cause) || Failures.isSessionOver(cause)) {
            return;
        }
        LOG.warn("{}: the leader cannot acknowledge that it leads, trying again: {}", path, cause.getMessage());
        Retry.later(session, cause, this::create);
    }

    private void watch() {
        if (!ended) {
            session.read(GetData.of(path).withWatcher(watcher), this::onWatched, this::onNotWatched);
        }
    }

    private void onWatched(GetData.NodeData present) {
        if (ended) {
            return;
        }
        if (isOurs(present)) {
            version = present.stat().version();
            updates.onPresent(present);
        } else {
            makeAgain();
        }
    }

    private void onNotWatched(Throwable cause) {
        if (!Failures.isSessionOver(cause) && !ended) {
            makeAgain();
        }
    }

    private void onEvent(NodeEvent event) {
        if (ended || event.type() == NodeEvent.Type.WATCH_REMOVED) {
            return;
        }
        if (event.type() == NodeEvent.Type.DATA_CHANGED) {
            watch(); // by an update of ours, or by another client
        } else {
            makeAgain();
        }
    }

    private void makeAgain() {
        version = UNKNOWN;
        LOG.info("{}: deleted or changed by another client while we lead, making it again", path);
        session.metrics().count("election.acknowledgement.restored", path.toString());
        create();
    }

    // So far the znode is made and kept. From here on, what the leader writes into it, and its end.

    /**
     * Changes the data. The stage completes on the dispatcher: with false if the leader leads no more, with a failure
     * if the backend refuses the data.
     */
    CompletionStage<Boolean> update(byte[] data) {
        return updates.add(recordOf(data));
    }

    /** Writes a record over ours; false if ours is not known to be there now, and will be looked at. */
    boolean write(byte[] next, Consumer<? super Throwable> onFailure) {
        if (version == UNKNOWN) {
            return false;
        }
        session.send(
                Multi.of(Check.exists(place), new SetData(path, next, version)),
                results -> {
                    results.get(CHECK + 1).stat().ifPresent(stat -> version = stat.version());
                    updates.onWritten();
                },
                onFailure);
        return true;
    }

    /** Our znode has this record from now on, and gets it again should it be deleted. */
    void becomes(byte[] written) {
        record = written;
    }

    /** What stands there is not known any more: looks at it, and makes it again if it is not ours. */
    void lookAgain() {
        version = UNKNOWN;
        if (!ended) {
            session.readLatest(path, GetData.of(path).withWatcher(watcher), this::onWatched, this::onNotWatched);
        }
    }

    boolean hasEnded() {
        return ended;
    }

    /**
     * Deletes the znode, if it is ours; to be called before the place is given up. Idempotent; on the dispatcher.
     *
     * @return completes on the dispatcher when nothing is left of it, or the session is gone; never exceptionally
     */
    CompletionStage<Void> withdraw() {
        if (!ended) {
            end();
            if (made.isDone() && !made.isCompletedExceptionally()) {
                deleteWhileInLine();
            } else {
                deleteIfOurs();
            }
        }
        return withdrawn;
    }

    /** As {@link #withdraw}, together with the place of its leader, which leaves the line. */
    CompletionStage<Void> withdrawWith(Contender leader, ConclaveException why) {
        if (ended || !made.isDone() || made.isCompletedExceptionally()) {
            return withdraw();
        }
        end();
        leader.leaveWith(Delete.of(path), () -> withdrawn.complete(null), this::deleteWhileInLine, why);
        return withdrawn;
    }

    private void end() {
        ended = true;
        updates.end();
    }

    /** While our place is in the line it cannot be a successor's. */
    private void deleteWhileInLine() {
        session.send(Multi.of(Check.exists(place), Delete.of(path)), results -> withdrawn.complete(null), cause -> {
            if (Failures.is(cause, RefusalReason.NO_NODE, CHECK)) {
                deleteIfOurs();
            } else {
                onNotDeleted(cause, this::deleteWhileInLine);
            }
        });
    }

    private void deleteIfOurs() {
        session.readLatest(
                path, GetData.of(path), this::deleteIfOurs, cause -> onNotDeleted(cause, this::deleteIfOurs));
    }

    private void deleteIfOurs(GetData.NodeData present) {
        boolean isOfOurLeadership = LeaderRecord.parse(present.data())
                .filter(one -> one.token().equals(token))
                .isPresent();
        if (present.stat().ephemeralOwner() == session.id() && isOfOurLeadership) {
            session.send(
                    Delete.of(path),
                    deleted -> withdrawn.complete(null),
                    cause -> onNotDeleted(cause, this::deleteIfOurs));
        } else {
            withdrawn.complete(null);
        }
    }

    private void onNotDeleted(Throwable cause, Runnable again) {
        Retry.untilGone(session, path, cause, again, () -> withdrawn.complete(null));
    }

    @Override
    public String toString() {
        return "LeaderNode[" + path + ", token " + token + (ended ? ", withdrawn" : "") + "]";
    }
}
