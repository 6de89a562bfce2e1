package io.conclave.barriers;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.line.ProcessName;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.SetData;
import io.conclave.request.Watcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The way into a double barrier.
 *
 * <p>How it goes; the requests of one look are sent without waiting for each other:
 *
 * <ol>
 *   <li>Ask whether {@code ready} is there, with a watch; create the own znode, and watch it; list the participants.
 *   <li>No {@code ready}, and too few: wait for the watch. Enough: open, in one transaction that checks each of them,
 *       writes their names into the barrier's znode if it has the version that was listed, and makes {@code ready} with
 *       their names. If it is refused something has changed: look again.
 *   <li>{@code ready} with our name: inside. Without it: the round of others. Wait for their {@code ready} to go, and
 *       for their lowest, because the last of them may die inside; when none of them is left, delete what they left
 *       behind, in one transaction with a check of that version: so it is never the {@code ready} of a later round.
 * </ol>
 *
 * <p>Every event leads to another look, and only the latest look counts. After a lost reply the next look tells whether
 * the request took effect: the own znode's name, and the names in {@code ready}, are the same. Only if the own znode
 * had to be created again is the barrier's own data looked at, whether the former one went into the last round. State
 * belongs to the dispatcher.
 */
final class Entering {
    private final BarrierParticipant participant;
    private final RecipeSession session;
    private final DoubleBarrierLayout layout;
    private final Watcher readyWatcher = this::onReadyEvent;
    private final Watcher memberWatcher = event -> look();
    private @Nullable NodePath watchedMember;
    private boolean created;
    private boolean maybeCreatedBefore; // a creation's reply was lost
    private int latest;

    /** One look at the barrier. */
    private static final class Look {
        final int number;
        Optional<NodeStat> ready = Optional.empty();

        Look(int number) {
            this.number = number;
        }
    }

    Entering(BarrierParticipant participant) {
        this.participant = participant;
        this.session = participant.session();
        this.layout = participant.layout();
    }

    void look() {
        if (!isEntering()) {
            return;
        }
        Look look = new Look(++latest);
        participant.send(
                Exists.of(layout.ready()).withWatcher(readyWatcher),
                stat -> look.ready = stat,
                cause -> onFailure(look.number, cause));
        if (!created) {
            create(look.number);
            participant.watchOwn();
        }
        participant.send(
                GetChildren.of(layout.path()),
                children -> decide(look, children),
                cause -> onFailure(look.number, cause));
    }

    private void create(int number) {
        participant.send(
                Create.of(participant.path()).withData(ProcessName.bytes()).withMode(CreateMode.EPHEMERAL),
                answer -> onCreated(),
                cause -> onNotCreated(number, cause));
    }

    private void decide(Look look, GetChildren.Children children) {
        if (!isLatest(look.number) || !created) {
            return;
        }
        List<String> members = Round.members(children.names());
        if (look.ready.isPresent()) {
            readRound(look, children);
        } else if (!children.names().contains(DoubleBarrierLayout.READY) && members.size() >= layout.participants()) {
            open(look.number, members, children.stat().version());
        } else if (!children.names().contains(DoubleBarrierLayout.READY)) {
            participant.mustWaitForOthers(); // too few
        } // else ready has come in between, and its event is on its way
    }

    private void open(int number, List<String> members, int version) {
        Round round = Round.of(members);
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(SetData.of(layout.path(), round.toBytes()).withVersion(version));
        members.forEach(member -> operations.add(Check.exists(layout.member(member))));
        operations.add(Create.of(layout.ready()).withData(round.toBytes()));
        participant.send(
                new Multi(operations),
                results -> {
                    session.metrics()
                            .count("doublebarrier.opened", layout.path().toString());
                    if (isEntering()) {
                        participant.enter(round);
                    }
                },
                cause -> onTransactionFailed(number, cause));
    }

    private void onReadyEvent(NodeEvent event) {
        if (!isEntering()) {
            return;
        }
        if (event.type() != NodeEvent.Type.CREATED) {
            look();
            return;
        }
        int number = ++latest; // most probably it is our round: one request tells
        participant.send(
                GetData.of(layout.ready()),
                node -> {
                    Round round = Round.parse(node.data());
                    if (isEntering() && round.includes(participant.name())) {
                        participant.enter(round);
                    } else if (isLatest(number)) {
                        look();
                    }
                },
                cause -> onNotRead(new Look(number), cause));
    }

    // So far one round without interference. From here on, what can come in between.

    /** Whether the own znode was created. */
    boolean isCreated() {
        return created;
    }

    private boolean isEntering() {
        return participant.state() == ParticipantState.ENTERING;
    }

    private boolean isLatest(int number) {
        return isEntering() && number == latest;
    }

    private void onCreated() {
        created = true;
        if (maybeCreatedBefore) {
            lookForMissedRound();
        }
    }

    private void onNotCreated(int number, Throwable cause) {
        if (Failures.is(cause, RefusalReason.NODE_EXISTS)) {
            onCreated(); // by an earlier attempt, whose reply was lost
        } else if (Failures.isNoNode(cause)) {
            latest++; // the other answers of this look say nothing
            makeParents();
        } else {
            maybeCreatedBefore |= cause instanceof OutcomeUnknownException;
            onFailure(number, cause);
        }
    }

    /**
     * An earlier znode of ours may have gone into a round and been deleted since by another client, unnoticed: then
     * this one would wait for a round that the others do not know of.
     */
    private void lookForMissedRound() {
        if (!isEntering()) {
            return;
        }
        participant.read(
                GetData.of(participant.path()),
                own -> readLastRound(own.stat().czxid()),
                cause -> {}); // if it is gone, its watch tells
    }

    private void readLastRound(long createdZxid) {
        if (!isEntering()) {
            return;
        }
        participant.read(
                GetData.of(layout.path()),
                barrier -> {
                    boolean isFormer = barrier.stat().mzxid() < createdZxid;
                    if (isEntering() && isFormer && Round.parse(barrier.data()).lists(participant.name())) {
                        participant.vanished();
                    }
                },
                cause -> {});
    }

    private void makeParents() {
        Waiting.whenDone(
                ParentMaker.makeContainers(session, layout.path()),
                made -> session.execute(this::look),
                cause -> session.execute(() -> participant.fail(cause)));
    }

    private void onFailure(int number, Throwable cause) {
        if (!isLatest(number)) {
            return;
        }
        if (cause instanceof OutcomeUnknownException) {
            session.metrics().count("doublebarrier.retry", layout.path().toString());
            look();
        } else if (Failures.isNoNode(cause)) {
            participant.vanished(); // with the barrier's znode
        } else {
            participant.fail(cause);
        }
    }

    private void onTransactionFailed(int number, Throwable cause) {
        if (isLatest(number) && Failures.isStateChanged(cause)) {
            look();
        } else {
            onFailure(number, cause);
        }
    }

    private void readRound(Look look, GetChildren.Children children) {
        participant.send(
                GetData.of(layout.ready()), node -> onRound(look, children, node), cause -> onNotRead(look, cause));
    }

    private void onNotRead(Look look, Throwable cause) {
        if (isLatest(look.number) && Failures.isNoNode(cause)) {
            look();
        } else {
            onFailure(look.number, cause);
        }
    }

    private void onRound(Look look, GetChildren.Children children, GetData.NodeData node) {
        if (!isLatest(look.number)) {
            return;
        }
        Round round = Round.parse(node.data());
        if (round.includes(participant.name())) {
            participant.enter(round);
        } else if (look.ready.stream()
                .noneMatch(seen -> seen.czxid() == node.stat().czxid())) {
            look(); // another one than the one that was there when the participants were listed
        } else {
            List<String> inside = round.among(children.names());
            if (inside.isEmpty()) {
                removeLeftBehind(look.number, children.stat().version());
            } else {
                watchMember(look.number, layout.member(inside.get(0)));
            }
        }
    }

    private void removeLeftBehind(int number, int version) {
        participant.send(
                Multi.of(
                        Check.exists(participant.path()), // so the barrier's znode is the one whose version was read
                        new Check(layout.path(), version),
                        Delete.of(layout.ready())),
                results -> {
                    session.metrics()
                            .count("doublebarrier.leftbehind", layout.path().toString());
                    look();
                },
                cause -> onTransactionFailed(number, cause));
    }

    private void watchMember(int number, NodePath member) {
        watchedMember = member;
        participant.mustWaitForOthers();
        participant.send(
                GetData.of(member).withWatcher(memberWatcher), // which leaves no watch on a znode that is gone
                node -> {},
                cause -> {
                    if (Failures.isNoNode(cause) && isLatest(number)) {
                        look();
                    } else {
                        onFailure(number, cause);
                    }
                });
    }

    /** There is no waiter any more. */
    void removeWatches() {
        session.unwatch(layout.ready(), readyWatcher);
        NodePath member = watchedMember;
        if (member != null) {
            session.unwatch(member, memberWatcher);
        }
    }
}
