package io.conclave.line;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.spi.GetChildren;
import io.conclave.spi.GetData;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Finds out when it is a contender's turn: reads the line, asks the rule, and watches the one who has to go first.
 *
 * <p>State belongs to the dispatcher.
 */
final class Lookout {
    private final Contender contender;
    private final RecipeSession session;
    private final NodePath line;
    private final LineRole role;
    private final OwnPlace own;
    private final PredecessorWatch predecessor;
    private boolean refusedBehindCreation;
    private volatile Obstacle obstacle = Obstacle.UNKNOWN; // written on the dispatcher only

    Lookout(Contender contender, NodePath line, LineRole role, OwnPlace own) {
        this.contender = contender;
        this.session = contender.session();
        this.line = line;
        this.role = role;
        this.own = own;
        this.predecessor = new PredecessorWatch(contender);
    }

    /** Looks right behind a creation, before its answer has come: that answer comes first. */
    void lookBehindCreation() {
        refusedBehindCreation = false;
        look();
    }

    /** The creation was answered; what was read behind it need not have been. */
    void lookUnlessBehindCreation() {
        if (refusedBehindCreation) {
            refusedBehindCreation = false;
            look();
        }
    }

    /** Reads the line; the answer counts for the connection on which it came. */
    void look() {
        SharedLooks.of(session)
                .look(
                        line,
                        role.line(),
                        read -> contender.guarded(() -> onLine(read)),
                        cause -> contender.guarded(() -> onLookFailed(cause)));
    }

    private void onLookFailed(Throwable cause) {
        if (!isLooking()) {
            // by the bound of the queue, which answers out of turn
            refusedBehindCreation = contender.isCreationInFlight();
        } else if (cause instanceof OutcomeUnknownException) {
            lookAgain();
        } else if (Refusals.isNoNode(cause)) {
            contender.vanished();
        } else {
            contender.fail(cause);
        }
    }

    /** Whether an answer about the line still matters; before we have a place, the creation's own answer decides. */
    private boolean isLooking() {
        return own.znode().isPresent() && contender.isBeforeGrant();
    }

    /** In doubt the own znode is read with the line. */
    private void lookAgain() {
        own.watch();
        look();
    }

    private void onLine(SharedLooks.Line read) {
        if (!isLooking()) {
            return;
        }
        LineEntry ours = own.znode().orElseThrow().entry();
        if (!read.before(ours, before -> onPlace(before, ours))) {
            contender.vanished();
        }
    }

    private void onPlace(List<LineEntry> before, LineEntry ours) {
        obstacle = new Obstacle(before.size(), Optional.empty());
        Turn turn = role.turn(before, ours);
        if (turn instanceof Turn.Now) {
            contender.grant();
        } else if (turn instanceof Turn.After after) {
            if (!waitsForOwnDeparture(after.entry()) && contender.mayWait()) {
                waitFor(after.entry(), role.isNextAfter(after.entry(), before, ours));
            }
        } else {
            throw new IllegalStateException("Not provided for: " + turn);
        }
    }

    /** Who does not wait for others looks again once a place of the same session that is being given up has gone. */
    private boolean waitsForOwnDeparture(LineEntry awaited) {
        if (contender.isPatient()) {
            return false;
        }
        Optional<CompletionStage<Void>> departure = DepartingPlaces.of(session).endOf(line, awaited);
        departure.ifPresent(gone -> gone.thenRun(() -> contender.guarded(() -> {
            if (isLooking()) {
                lookAgain();
            }
        })));
        return departure.isPresent();
    }

    private void waitFor(LineEntry awaited, boolean isNext) {
        long connection = session.connectionNumber();
        NodePath path = line.child(awaited.name());
        predecessor.set(
                path,
                event -> onPredecessor(event, isNext, connection),
                node -> onWatched(path, node),
                this::onNotWatched);
    }

    /** The predecessor holds if it is the only one before us. */
    private void onWatched(NodePath path, GetData.NodeData node) {
        if (obstacle.before() == 1) {
            obstacle = obstacle.withHolder(Obstacle.holder(path, node));
        }
    }

    /** What is in the way, as it was last seen. Any thread. */
    Obstacle obstacle() {
        return obstacle;
    }

    /** Reads the head of the line, unless it is known: it holds what we wait for. */
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

    private void onNotWatched(Throwable cause) {
        if (!contender.isWaiting()) {
            return;
        }
        if (cause instanceof OutcomeUnknownException || Refusals.isNoNode(cause)) {
            lookAgain();
        } else {
            contender.fail(cause);
        }
    }

    private void onPredecessor(NodeEvent event, boolean isNext, long connection) {
        if (!contender.isWaiting()) {
            return;
        }
        boolean uninterrupted = connection == session.connectionNumber() && own.isWatchedOn(connection);
        if (event.type() == NodeEvent.Type.DELETED && isNext && uninterrupted) {
            contender.grant();
        } else {
            lookAgain();
        }
    }

    /** Nobody waits any more. */
    void stop() {
        predecessor.remove();
    }
}
