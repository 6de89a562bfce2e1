package io.conclave.line;

import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Sender;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Create;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Watcher;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets a contender its znode and its turn, as the lock of the ZooKeeper recipes page has it:
 *
 * <ol>
 *   <li>{@link #create} the znode, ephemeral and sequential.
 *   <li>{@link #look} at the line: list it.
 *   <li>{@link #onLine}: nobody to wait for, so it is the contender's turn.
 *   <li>{@link #watch} the predecessor otherwise, and only it: one deletion wakes one contender.
 *   <li>{@link #onPredecessor}: it has gone, so look again.
 * </ol>
 *
 * <p>The page says nothing of lost replies. A creation without an answer took effect before the first answer on the next connection, or never
 * will. So the line is listed behind a sync, and the guid in the name tells which znode is ours; if there is none, it is created again.
 *
 * <p>State belongs to the dispatcher.
 */
final class Waiter {
    private static final Logger LOG = LoggerFactory.getLogger(Waiter.class);

    private final Contender contender;
    private final RecipeSession session;
    private final Sender sender;
    private final NodePath line;
    private final LineRole role;
    private final String guid;
    private final byte[] data;
    private final OwnNode own;
    private boolean isCreating; // sent and not answered
    private boolean isLookRefused; // of the look behind the creation, out of turn
    private @Nullable Watch watch;
    private volatile Obstacle obstacle = Obstacle.UNKNOWN; // written on the dispatcher only

    /** What would stay set on a predecessor that holds for long, if the contender left without removing it. */
    private record Watch(NodePath path, Watcher watcher) {}

    Waiter(Contender contender, Sender sender, NodePath line, LineRole role, String guid, byte[] data, OwnNode own) {
        this.contender = contender;
        this.session = contender.session();
        this.sender = sender;
        this.line = line;
        this.role = role;
        this.guid = guid;
        this.data = data;
        this.own = own;
    }

    /** Creates the znode, and lists the line right behind it: its answer comes first. */
    void create() {
        isCreating = true;
        isLookRefused = false;
        NodePath name = line.child(role.kind().nameOf(guid));
        sender.send(
                Create.of(name).withData(data).withMode(CreateMode.EPHEMERAL_SEQUENTIAL),
                this::onCreated,
                this::onNotCreated);
        look();
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
        obstacle = new Obstacle(before.size(), Optional.empty());
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
        sender.send(
                GetData.of(path).withWatcher(watcher),
                node -> onWatched(new Watch(path, watcher), node),
                this::onNotWatched);
    }

    /** The look is spared if nobody else can be before us, and nothing was missed. */
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

    private void onCreated(Create.Created created) {
        isCreating = false;
        contender.take(created.path(), created.stat());
        if (isLookRefused) {
            isLookRefused = false;
            look();
        }
    }

    private void onNotCreated(Throwable cause) {
        isCreating = false;
        if (cause instanceof OutcomeUnknownException) {
            if (contender.isInLine()) {
                findOut();
            } else {
                contender.deletion().search();
            }
        } else if (Failures.isNoNode(cause) && contender.isInLine()) {
            ParentMaker.makeContainers(session, line).whenComplete((done, failure) -> onParents(failure));
        } else {
            contender.failWithoutZnode(cause);
        }
    }

    private void onParents(@Nullable Throwable failure) {
        if (failure == null && contender.isInLine()) {
            create();
        } else {
            contender.failWithoutZnode(failure == null ? new ClosedException("Abandoned") : Waiting.cause(failure));
        }
    }

    /** Whether a creation was sent and not answered. */
    boolean isCreating() {
        return isCreating;
    }

    /** The creation was not answered: the names in the line tell whether it took effect. */
    private void findOut() {
        contender.measurements().recovering();
        sender.readLatest(line, GetChildren.of(line), children -> onListed(children.names()), this::onNotFoundOut);
    }

    private void onNotFoundOut(Throwable cause) {
        if (Failures.isNoNode(cause) && contender.isInLine()) {
            create();
        } else {
            contender.fail(cause);
        }
    }

    private void onListed(List<String> names) {
        if (!contender.isInLine()) {
            return; // its deletion searches for itself
        }
        List<LineEntry> ours = LineEntry.of(guid, Set.of(role.kind()), names);
        if (ours.isEmpty()) {
            create();
            return;
        }
        LOG.debug("{}: found again after a lost reply: {}", contender, ours);
        for (LineEntry surplus : ours.subList(1, ours.size())) { // the creation was sent twice
            Retry.deleteUntilGone(session, line.child(surplus.name()), () -> {});
        }
        readFound(line.child(ours.get(0).name()));
    }

    private void readFound(NodePath path) {
        sender.send(GetData.of(path), node -> onFound(path, node), cause -> {
            if (cause instanceof OutcomeUnknownException && contender.isInLine()) {
                findOut();
            } else {
                own.onReadFailed(cause);
            }
        });
    }

    private void onFound(NodePath path, GetData.NodeData node) {
        if (contender.isInLine()) {
            contender.take(path, node.stat());
            look();
        }
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

    /** A contender that does not wait for others looks again once a place of the same session that is being deleted has gone. */
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
        if (obstacle.before() == 1) { // then the predecessor holds
            obstacle = obstacle.withHolder(Obstacle.holder(present.path, node));
        }
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

    /** Nobody waits any more: removes the watch if one is set, so that a line that many leave while one holds gathers no watches. */
    void stop() {
        Watch present = watch;
        watch = null;
        if (present != null) {
            session.unwatch(present.path, present.watcher);
        }
    }

    /** What is in the way, as it was last seen. Any thread. */
    Obstacle obstacle() {
        return obstacle;
    }

    /** Reads the head of the line, unless it is known: it holds what is waited for. */
    void findHolder() {
        if (!contender.isWaiting() || obstacle.holder().isPresent()) {
            return;
        }
        session.send(
                GetChildren.of(line),
                children -> {
                    List<LineEntry> entries = LineEntry.inOrder(role.line(), children.names());
                    int before = own.znode()
                            .map(ours -> entries.indexOf(ours.entry()))
                            .orElse(0);
                    if (before > 0) {
                        readHolder(before, line.child(entries.get(0).name()));
                    }
                },
                cause -> {}); // then it is not known
    }

    private void readHolder(int before, NodePath head) {
        session.send(
                GetData.of(head),
                node -> obstacle = new Obstacle(before, Optional.of(Obstacle.holder(head, node))),
                cause -> {}); // it has just gone
    }
}
