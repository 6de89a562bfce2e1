package io.conclave.election;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.FencingToken;
import io.conclave.line.Contender;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.spi.Check;
import io.conclave.spi.Create;
import io.conclave.spi.Delete;
import io.conclave.spi.GetData;
import io.conclave.spi.Multi;
import io.conclave.spi.Sync;
import io.conclave.spi.Watcher;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The znode {@code <path>/leader} of one leader: it is there when the leader knows that it leads. (The recipes page: that a candidate is the first does not mean that it
 * knows; a separate znode may acknowledge that it has executed the leader procedure.)
 *
 * <p>How it goes:
 *
 * <ol>
 *   <li>It is created in one transaction with a check of the leader's own place in the line, so nobody acknowledges who has been taken out of the line.
 *   <li>If there is one already it is ours (the reply was lost), or that of a former leader whose place somebody deleted while its session lived: that one is replaced, in one
 *       transaction with the same check. It can be no later leader's, because there is none while our place stands.
 *   <li>It is watched, and made again if somebody deletes it while we lead.
 *   <li>A leader that resigns deletes it in one transaction with the check, right before it gives up its place. A leader whose place is gone already compares what
 *       stands there first. In the round trip between that look and the deletion its successor may have replaced it; then the successor makes its own again.
 * </ol>
 *
 * <p>Can a candidate lead with an older token than the leader before it? Not by our line: places are granted in the order of their numbers, and the backend gives numbers in the order
 * of creation, also when the line itself was deleted and made again. Only somebody who creates a place with a number of his own choice could bring it about. If his acknowledgement is still
 * there, we see from it that our token is older, and enter the line again ({@link #isSuperseded}); if it is gone, nobody remembers, and the store's guard refuses the older token.
 *
 * <p>State belongs to the session's dispatcher.
 */
final class Acknowledgement {
    /** The znode's name below the election's path. It is no place in the line, and sorts behind all places for those who sort every child. */
    static final String NAME = "leader";

    private static final Logger LOG = LoggerFactory.getLogger(Acknowledgement.class);
    private static final Duration RETRY_DELAY = Duration.ofMillis(500);
    private static final int CHECK = 0; // the position of the own place's check in every transaction here

    private final RecipeSession session;
    private final FencingToken token;
    private final NodePath place;
    private final NodePath path;
    private final byte[] record;
    private final Watcher watcher = this::onEvent; // one object, so that setting it again is no second watch
    private final CompletableFuture<Void> made = new CompletableFuture<>();
    private final CompletableFuture<Void> withdrawn = new CompletableFuture<>();
    private boolean superseded;
    private boolean ended;

    /** The acknowledgement of a contender that has been granted. */
    Acknowledgement(Contender leader, NodePath election, byte[] data) {
        this.session = leader.session();
        this.token = leader.token();
        this.place = leader.path().orElseThrow();
        this.path = election.child(NAME);
        this.record = new AcknowledgementRecord(token, place.name(), data).toBytes();
    }

    /** Creates the znode. The stage completes on the dispatcher; not at all if the place or the session is lost, which the contender tells of. */
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
        if (Refusals.is(cause, RefusalReason.NO_NODE, CHECK)) {
            LOG.debug("{}: our place {} is gone", path, place); // the contender is told of it as well
        } else if (cause instanceof OutcomeUnknownException) {
            create();
        } else if (Refusals.is(cause, RefusalReason.NODE_EXISTS)) {
            readPresent();
        } else if (replacing && (Refusals.isNoNode(cause) || Refusals.is(cause, RefusalReason.BAD_VERSION))) {
            create(); // what we wanted to replace has gone, or was changed
        } else {
            fail(cause);
        }
    }

    /** Somebody's acknowledgement is there. The sync makes sure that the server we read from has heard of ours, if it is that. */
    private void readPresent() {
        session.send(
                Sync.of(path),
                synced -> session.send(GetData.of(path), this::onPresent, this::onPresentNotRead),
                this::onPresentNotRead);
    }

    private void onPresentNotRead(Throwable cause) {
        if (ended) {
            return;
        }
        if (cause instanceof OutcomeUnknownException) {
            readPresent();
        } else if (Refusals.isNoNode(cause)) {
            create();
        } else {
            fail(cause);
        }
    }

    private void onPresent(GetData.NodeData present) {
        if (ended) {
            return;
        }
        Optional<FencingToken> former =
                AcknowledgementRecord.parse(present.data()).map(AcknowledgementRecord::token);
        if (isOurs(present)) {
            onMade();
        } else if (!present.stat().isEphemeral()) {
            fail(
                    new RefusedException(
                            RefusalReason.NODE_EXISTS,
                            path
                                    + " is no acknowledgement of a leader, which is ephemeral: the name is needed by the election"));
        } else if (former.isPresent() && former.get().compareTo(token) >= 0) {
            LOG.warn("{}: a leader had a token not smaller than ours, {}: entering the line again", path, token);
            superseded = true;
            fail(new ClosedException(
                    path + " is that of a leader with the token " + former.get() + ", not smaller than " + token));
        } else {
            LOG.info("{}: replacing what a former leader left: {}", path, former);
            replace(present.stat().version());
        }
    }

    private boolean isOurs(GetData.NodeData present) {
        return present.stat().ephemeralOwner() == session.id()
                && present.bytes().contentEquals(record);
    }

    private void fail(Throwable cause) {
        if (made.completeExceptionally(cause) || isOver(cause)) {
            return;
        }
        LOG.warn("{}: the leader cannot acknowledge that it leads, trying again: {}", path, cause.getMessage());
        session.time().schedule(RETRY_DELAY, () -> session.execute(this::create));
    }

    private static boolean isOver(Throwable cause) {
        return cause instanceof SessionGoneException || cause instanceof ClosedException;
    }

    private void watch() {
        if (!ended) {
            session.send(GetData.of(path).withWatcher(watcher), this::onWatched, this::onNotWatched);
        }
    }

    private void onWatched(GetData.NodeData present) {
        if (!ended && !isOurs(present)) {
            makeAgain();
        }
    }

    private void onNotWatched(Throwable cause) {
        if (cause instanceof OutcomeUnknownException) {
            watch();
        } else if (!isOver(cause) && !ended) {
            makeAgain();
        }
    }

    private void onEvent(NodeEvent event) {
        if (!ended && event.type() != NodeEvent.Type.WATCH_REMOVED) {
            makeAgain();
        }
    }

    private void makeAgain() {
        LOG.info("{}: deleted or changed by somebody else while we lead, making it again", path);
        session.metrics().count("election.acknowledgement.restored", path.toString());
        create();
    }

    /** Deletes the znode, if it is ours; to be called before the place is given up. Idempotent; on the dispatcher. */
    CompletionStage<Void> withdraw() {
        if (!ended) {
            ended = true;
            if (made.isDone() && !made.isCompletedExceptionally()) {
                deleteWhileInLine();
            } else {
                deleteIfOurs();
            }
        }
        return withdrawn;
    }

    /** Completes on the dispatcher when nothing is left of it, or the session is gone; never exceptionally. */
    CompletionStage<Void> withdrawn() {
        return withdrawn;
    }

    /** While our place is in the line it cannot be a successor's. */
    private void deleteWhileInLine() {
        session.send(Multi.of(Check.exists(place), Delete.of(path)), results -> withdrawn.complete(null), cause -> {
            if (Refusals.is(cause, RefusalReason.NO_NODE, CHECK)) {
                deleteIfOurs();
            } else {
                onNotDeleted(cause, this::deleteWhileInLine);
            }
        });
    }

    private void deleteIfOurs() {
        session.send(
                Sync.of(path),
                synced -> session.send(
                        GetData.of(path), this::deleteIfOurs, cause -> onNotDeleted(cause, this::deleteIfOurs)),
                cause -> onNotDeleted(cause, this::deleteIfOurs));
    }

    private void deleteIfOurs(GetData.NodeData present) {
        if (isOurs(present)) {
            session.send(
                    Delete.of(path),
                    deleted -> withdrawn.complete(null),
                    cause -> onNotDeleted(cause, this::deleteIfOurs));
        } else {
            withdrawn.complete(null);
        }
    }

    private void onNotDeleted(Throwable cause, Runnable again) {
        if (cause instanceof OutcomeUnknownException) {
            again.run();
        } else if (Refusals.isNoNode(cause) || isOver(cause)) {
            withdrawn.complete(null);
        } else if (Refusals.mayPass(cause)) {
            LOG.warn("Cannot delete {} yet, trying again: {}", path, cause.getMessage());
            session.time().schedule(RETRY_DELAY, () -> session.execute(again));
        } else {
            LOG.error("Cannot delete {}; it stays until the session ends or the next leader replaces it", path, cause);
            withdrawn.complete(null);
        }
    }

    @Override
    public String toString() {
        return "Acknowledgement[" + path + ", token " + token + (ended ? ", withdrawn" : "") + "]";
    }
}
