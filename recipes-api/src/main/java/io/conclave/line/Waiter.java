package io.conclave.line;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.Watcher;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Gets a contender its znode and its turn, as the lock of the ZooKeeper recipes page has it:
 *
 * <ol>
 *   <li>{@link #create} the znode, ephemeral and sequential.
 *   <li>{@link #look} at the line: list it.
 *   <li>{@link #onLine}: nobody to wait for, so it is the contender's turn.
 *   <li>{@link #watch} the predecessor otherwise, and only it: one deletion wakes one contender.
 *   <li>{@link #onPredecessor}: it has gone, so look again. That look is spared only if the predecessor was the head of
 *       a line of one kind, and nothing interrupted the connection since the line was read and the watch on the own
 *       znode was set: then nobody else can be before us.
 * </ol>
 *
 * <p>State belongs to the dispatcher.
 */
final class Waiter {
    private final Contender contender;
    private final RecipeSession session;
    private final NodePath line;
    private final LineRole role;
    private final OwnNode own;
    private final Obstacle obstacle;
    private boolean isCreating; // sent and not answered
    private boolean isLookRefused; // of the look behind the creation, out of turn
    private @Nullable Watch watch;

    /** What would stay set on a predecessor that holds for long, if the contender left without removing it. */
    private record Watch(NodePath path, Watcher watcher) {}

    Waiter(Contender contender, OwnNode own, Obstacle obstacle) {
        this.contender = contender;
        this.session = contender.session();
        this.line = contender.line();
        this.role = contender.role();
        this.own = own;
        this.obstacle = obstacle;
    }

    /** Creates the znode, and lists the line right behind it: its answer comes first. */
    void create() {
        contender.send(
                beginCreation(),
                created -> onCreated(created.path(), created.stat()),
                cause -> JointEntry.recover(contender, cause));
        look();
    }

    /** The request that creates the znode. It is on its way from now on, by itself or in a transaction. */
    Create beginCreation() {
        isCreating = true;
        isLookRefused = false;
        NodePath name = line.child(role.kind().nameOf(contender.guid()));
        return Create.of(name).withData(contender.data()).withMode(CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    /** Lists the line; the answer counts for the connection on which it comes. */
    void look() {
        SharedLooks.of(session)
                .look(
                        line,
                        role.line(),
                        read -> contender.guarded(() -> onLine(read)),
                        cause -> contender.guarded(() -> onLookFailed(cause)));
    }

    private void onLine(SharedLooks.Line read) {
        if (!isLooking()) {
            return;
        }
        LineEntry ours = own.znode().orElseThrow().entry();
        Optional<List<LineEntry>> before = read.before(ours);
        if (before.isPresent()) {
            onPlace(before.get(), ours);
        } else {
            contender.vanished();
        }
    }

    private void onPlace(List<LineEntry> before, LineEntry ours) {
        obstacle.lineRead(before.size());
        Optional<LineEntry> predecessor = role.predecessor(before, ours);
        if (predecessor.isEmpty()) {
            contender.grant();
        } else if (!waitsForOwnDeletion(predecessor.get()) && contender.mayWait()) {
            watch(predecessor.get(), role.isNextAfter(predecessor.get(), before, ours));
        }
    }

    /** Reads the predecessor and watches it, which sets nothing on a znode that is gone. */
    private void watch(LineEntry predecessor, boolean isNext) {
        long connection = session.connectionNumber();
        NodePath path = line.child(predecessor.name());
        Watcher watcher = event -> {
            watch = null;
            contender.guarded(() -> onPredecessor(event, isNext, connection));
        };
        contender.send(
                GetData.of(path).withWatcher(watcher),
                node -> onWatched(new Watch(path, watcher), node),
                this::onNotWatched);
    }

    private void onPredecessor(NodeEvent event, boolean isNext, long connection) {
        if (!contender.isWaiting()) {
            return;
        }
        boolean isUninterrupted = connection == session.connectionNumber() && own.isWatchedOn(connection);
        if (event.type() == NodeEvent.Type.DELETED && isNext && isUninterrupted) {
            contender.grant();
        } else {
            lookAgain();
        }
    }

    // So far the page. From here on, what can come in between.

    /** The znode was created. */
    void onCreated(NodePath path, NodeStat stat) {
        endCreation();
        contender.take(path, stat);
        if (isLookRefused) {
            isLookRefused = false;
            look();
        }
    }

    /** The creation is not on its way any more. */
    void endCreation() {
        isCreating = false;
    }

    /** Whether a creation was sent and not answered. */
    boolean isCreating() {
        return isCreating;
    }

    private void onLookFailed(Throwable cause) {
        if (!isLooking()) {
            // by the bound of the queue, which answers out of turn
            isLookRefused = isCreating;
        } else if (cause instanceof OutcomeUnknownException) {
            lookAgain();
        } else if (Failures.isNoNode(cause)) {
            contender.vanished();
        } else {
            contender.fail(cause);
        }
    }

    /** Whether an answer about the line still matters; before there is a znode, the creation's own answer decides. */
    private boolean isLooking() {
        return own.znode().isPresent() && contender.isBeforeGrant();
    }

    /** In doubt the own znode is read with the line. */
    private void lookAgain() {
        own.watch();
        look();
    }

    /**
     * A contender that does not wait for others looks again once a place of the same session that is being deleted has
     * gone.
     */
    private boolean waitsForOwnDeletion(LineEntry predecessor) {
        if (contender.isPatient()) {
            return false;
        }
        Optional<CompletionStage<Void>> deletion = PendingDeletes.of(session).endOf(line, predecessor);
        deletion.ifPresent(gone -> gone.thenRun(() -> contender.guarded(() -> {
            if (isLooking()) {
                lookAgain();
            }
        })));
        return deletion.isPresent();
    }

    private void onWatched(Watch present, GetData.NodeData node) {
        watch = present;
        if (!contender.isWaiting()) {
            stop();
        }
        obstacle.predecessorRead(present.path, node);
    }

    private void onNotWatched(Throwable cause) {
        if (!contender.isWaiting()) {
            return;
        }
        if (cause instanceof OutcomeUnknownException || Failures.isNoNode(cause)) {
            lookAgain();
        } else {
            contender.fail(cause);
        }
    }

    /**
     * Nobody waits any more: removes the watch if one is set, so that a line that many leave while one holds gathers no
     * watches.
     */
    void stop() {
        Watch present = watch;
        watch = null;
        if (present != null) {
            session.unwatch(present.path, present.watcher);
        }
    }
}
