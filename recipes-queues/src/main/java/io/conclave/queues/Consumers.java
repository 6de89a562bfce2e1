package io.conclave.queues;

import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.GetData;
import io.conclave.request.Operation;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import io.conclave.spi.Elapsed;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All consumers of one queue in one session: one of them stands in the line of consumers for all.
 *
 * <ol>
 *   <li>A caller that takes something makes the process enter the line, if it is not in it ({@link LineTurn}).
 *   <li>At its head: list the items with a watch. As many as callers wait for, up to the limit of a turn, are read and
 *       taken or claimed in one transaction ({@link DequeueTransaction}), which gives up the turn as well if others
 *       wait for it.
 *   <li>No items: wait for the watch; none that is due: for its time as well ({@link #awaitDue}). In a FIFO queue the
 *       list is worked off, and read again when it is exhausted or a second old. In any other queue the watch makes it
 *       stale; a long one is followed instead, while no other process waits: a persistent watch tells of each item that
 *       comes and goes ({@link ItemsWatch#follow}).
 * </ol>
 *
 * <p>So one process looks at the items at a time, a new item wakes one process, and what a take costs does not depend
 * on how many wait. State belongs to the session's dispatcher.
 */
final class Consumers implements QueueAgents.Agent, LineTurn.Listener, ItemsWatch.Looker {
    private static final Logger LOG = LoggerFactory.getLogger(Consumers.class);

    /**
     * How long a FIFO consumer works from a list of which something has changed: an item that comes back takes its
     * place that much later at most. Also how long a list is followed before it is read again, so that an event which
     * a server does not send does no harm for longer.
     */
    private static final Duration LISTED_FOR = Duration.ofSeconds(1);

    /**
     * How long a consumer waits at most for the first item to be due before it looks at the wall clock again, because
     * that may have been set; and at a list that it follows, as above.
     */
    private static final Duration LOOKS_AGAIN = Duration.ofSeconds(10);

    /** Of a shorter list reading it again costs no more than being told of its changes. */
    static final int FOLLOWED_ABOVE = 16;

    private final RecipeSession session;
    private final QueueLayout layout;
    private final ItemOrder order;
    private final LineTurn turn;
    private final CommitMarker marker;
    private final ItemsWatch watch;
    private final Deque<PendingTake> pendingTakes = new ArrayDeque<>();
    private final ListedItems items;
    private final PassedOver passedOver;
    private final Map<ItemName, Delivery> read = new HashMap<>();
    private final Registration sessionListener;
    private final Registration atClosing;
    private boolean returned;
    private int refused; // items of this list
    private int attempts; // under way, past the line
    private TimeSource.Timer nextDue = () -> {};
    private Elapsed listedAt; // or since an item of the list was refused
    private @Nullable Dequeuing dequeuing; // what is on its way

    Consumers(RecipeSession session, QueueLayout layout, ItemOrder order) {
        this.session = session;
        this.layout = layout;
        this.order = order;
        this.items = new ListedItems(order);
        this.passedOver = new PassedOver(layout);
        this.turn = new LineTurn(session, layout.consumers(), this);
        this.marker = new CommitMarker(session, layout.commitMarkers());
        this.watch = new ItemsWatch(session, layout, turn, this);
        this.listedAt = Elapsed.since(session.time());
        this.sessionListener = session.onStateChange(this::onSessionState);
        this.atClosing = session.onClosing(marker::onClosing);
    }

    /** A new take, with a limit of time if there is one. */
    void add(PendingTake pending, Optional<Duration> timeout) {
        if (!session.state().isLive()) {
            pending.fail(endOf(session.state()));
            return;
        }
        pendingTakes.add(pending);
        timeout.ifPresent(
                limit -> pending.endsBy(session.time().schedule(limit, () -> session.execute(() -> end(pending)))));
        proceed();
    }

    private void proceed() {
        nextDue.cancel();
        if (dequeuing != null || watch.isLooking()) {
            return; // what follows comes back here
        }
        if (!session.state().isLive()) {
            failThem(List.copyOf(pendingTakes), endOf(session.state()));
        }
        if (turn.isToWork(pendingTakes.isEmpty(), this::stopWatching)) {
            work();
        }
    }

    @Override
    public void onTurn() {
        watch.disregard(); // to set it again is no second watch
        items.clear();
        read.clear();
        proceed();
    }

    private void work() {
        if (!watch.isStanding() && mustLook()) {
            look();
        } else if (!items.isEmpty()) {
            Duration untilDue = untilDue();
            if (untilDue.isZero()) {
                dequeue();
            } else if (refused > 0 && listIsOlderThan(LOOKS_AGAIN)) {
                look(); // the watch does not tell that an item was mended
            } else {
                awaitDue(untilDue);
            }
        } // else the watch tells
    }

    @Override
    public void onListed(Collection<String> names) {
        items.list(names);
        read.clear();
        refused = 0;
        proceed();
    }

    private void dequeue() {
        PendingTake.Kind kind = pendingTakes.getFirst().kind();
        List<ItemName> chosen = items.due(firstCallers(kind), session.time().wallMillis());
        if (chosen.isEmpty()) { // the wall clock was set back meanwhile
            awaitDue(untilDue());
            return;
        }
        Dequeuing begun = new Dequeuing(kind.mode(), chosen.size());
        dequeuing = begun;
        new DequeueTransaction(session, layout, kind, chosen, begun).begin(read, this::send);
    }

    /** How many callers at the head of the line may be served at once: as there are items, and of one kind. */
    private int firstCallers(PendingTake.Kind kind) {
        return (int) pendingTakes.stream()
                .limit(Math.min(items.size(), LineTurn.MOST))
                .takeWhile(pending -> pending.kind().equals(kind))
                .count();
    }

    private void send(List<Operation<?>> operations, int dequeued, CommitMarker.Outcome outcome) {
        boolean leaves = dequeued > 0 && turn.endsWith(dequeued, dequeued >= pendingTakes.size());
        marker.perform(turn, leaves, operations, outcome);
        if (!leaves) {
            items.dueBehind(dequeued, session.time().wallMillis()).ifPresent(this::prefetch);
        }
    }

    // So far a take. From here on, what can come in between.

    /** Reads the list, or follows it: a persistent watch tells of each change of a long one. */
    private void look() {
        returned = false;
        listedAt = Elapsed.since(session.time());
        if (order.isRanked() && items.size() > FOLLOWED_ABOVE && !turn.othersMayWait() && watch.canFollow()) {
            watch.follow();
        } else {
            watch.look();
        }
    }

    @Override
    public void onCreated(String name) {
        items.created(name);
        onFollowed();
    }

    @Override
    public void onDeleted(String name) {
        items.deleted(name);
        onFollowed();
    }

    private Duration untilDue() {
        return items.untilDue(session.time().wallMillis());
    }

    /** None of the items is due: the watch tells of an earlier one, and the timer when the first one is. */
    private void awaitDue(Duration untilDue) {
        Duration wait = untilDue.compareTo(LOOKS_AGAIN) < 0 ? untilDue : LOOKS_AGAIN;
        nextDue = session.time().schedule(wait, () -> session.execute(this::proceed));
    }

    @Override
    public boolean isIdle() {
        return pendingTakes.isEmpty()
                && attempts == 0
                && turn.isOut()
                && dequeuing == null
                && !watch.isLooking()
                && marker.isIdle();
    }

    @Override
    public void close() {
        sessionListener.close();
        atClosing.close();
    }

    /** An item at once or none, past the consumers in line. */
    void attempt(PendingTake pending) {
        if (session.state().isLive()) {
            attempts++;
            new Attempt(
                            session,
                            layout,
                            order,
                            marker,
                            pending,
                            passedOver,
                            one -> giveBack(pending.mode(), one),
                            () -> attempts--)
                    .begin();
        } else {
            pending.fail(endOf(session.state()));
        }
    }

    private void end(PendingTake pending) {
        if (session.state().isLive()) { // else what is on its way decides: it could not be given back
            pending.endWithout();
            remove(pending);
        }
    }

    private void remove(PendingTake pending) {
        pendingTakes.remove(pending);
        proceed();
    }

    /** The caller has given up; an item that has come meanwhile goes back. */
    void abandon(PendingTake pending) {
        if (pending.isOver()) {
            pending.outcome()
                    .thenAccept(result -> result.filter(Delivery::own).ifPresent(one -> giveBack(pending.mode(), one)));
        } else {
            pending.abandon();
            remove(pending);
        }
    }

    @Override
    public void onTurnLost() {
        if (dequeuing == null) {
            stopWatching();
        }
        proceed();
    }

    @Override
    public void onTurnRefused(Throwable cause) {
        failAll(cause);
    }

    /**
     * Whether the list will not do, of which something has changed. Of a FIFO queue that is an item that comes back
     * before those that are left.
     */
    private boolean mustLook() {
        return (order.isRanked() && !watch.isFollowing() && !worksOff())
                || items.isEmpty()
                || returned
                || listIsOlderThan(untilDue().isZero() ? LISTED_FOR : LOOKS_AGAIN);
    }

    private boolean listIsOlderThan(Duration limit) {
        return listedAt.remainingOf(limit).isZero();
    }

    /** Also a list of a ranked queue of which an item was refused: it would be refused before each of the others. */
    private boolean worksOff() {
        return refused > 0 && untilDue().isZero();
    }

    /** An item of this session has come back. Those of other sessions are seen when the list is read again. */
    void onReturned() {
        returned = true;
        boolean wasFollowing = watch.isFollowing();
        watch.disregard();
        if (wasFollowing) {
            onFollowed();
        }
    }

    /** What was followed has changed: of a queue in which nothing was due, the first item may be another now. */
    private void onFollowed() {
        if (order == ItemOrder.BY_TIME) {
            proceed();
        }
    }

    @Override
    public void onUnlisted() {
        proceed();
    }

    @Override
    public void onListRefused(Throwable cause) {
        failAll(cause);
    }

    private void stopWatching() {
        nextDue.cancel();
        watch.stop();
        items.clear();
        read.clear();
    }

    /** Reads the item behind those that are being dequeued: it comes next. */
    private void prefetch(ItemName item) {
        if ((order.isRanked() && !watch.isFollowing()) || read.containsKey(item)) {
            return; // another may come next
        }
        Elapsed now = Elapsed.since(session.time());
        session.send(
                GetData.of(layout.item(item)),
                node -> {
                    if (items.contains(item)) {
                        read.put(
                                item,
                                new Delivery(item, node.data(), node.stat().version(), now));
                    }
                },
                cause -> {}); // it is read again
    }

    /** What comes of a step. */
    private final class Dequeuing implements DequeueTransaction.Outcome {
        private final PendingTake.Mode mode;
        private final int count;

        Dequeuing(PendingTake.Mode mode, int count) {
            this.mode = mode;
            this.count = count;
        }

        @Override
        public void dequeued(List<Delivery> deliveries) {
            dequeuing = null;
            turn.done(deliveries.size());
            for (Delivery one : deliveries) {
                items.remove(one.item());
                read.remove(one.item());
            }
            deliveries.forEach(one -> deliver(mode, one));
            proceed();
        }

        @Override
        public void buried(ItemName item) {
            dequeuing = null;
            items.remove(item);
            LOG.warn("{}: {} was delivered too often, and is a dead letter now", layout.path(), item.name());
            session.metrics().count("queue.dead", layout.path().toString());
            proceed();
        }

        @Override
        public void stale(ItemName item) {
            dequeuing = null;
            disregardList();
            proceed();
        }

        @Override
        public void unusable(ItemName item, RefusedException refusal) {
            dequeuing = null;
            items.remove(item);
            read.remove(item);
            passedOver.add(item, refusal);
            listedAt = Elapsed.since(session.time()); // that the refusals took long must not have them tried again
            boolean wereAllTried = items.isEmpty() && (watch.isStanding() || watch.isFollowing());
            if (++refused >= PassedOver.MOST || wereAllTried) {
                lookAgainBehind(callers().toList(), refusal);
            } else {
                proceed();
            }
        }

        @Override
        public void again() {
            dequeuing = null;
            read.clear();
            proceed();
        }

        @Override
        public void failed(Throwable cause) {
            dequeuing = null;
            if (cause instanceof OutcomeUnknownException) {
                lookAgainBehind(receivers(), cause); // it is not known who has these items
            } else {
                failAll(cause);
            }
        }

        /** These callers hear of the failure, and the others wait on. */
        private void lookAgainBehind(List<PendingTake> failed, Throwable cause) {
            disregardList();
            failThem(failed, cause);
            proceed();
        }

        /** So that the list is read again. */
        private void disregardList() {
            items.clear();
            read.clear();
            watch.disregard();
        }

        @Override
        public int wanted() {
            return (int) callers().filter(pending -> !pending.isOver()).count();
        }

        /** The callers that these items go to, if they do not give up before. */
        List<PendingTake> receivers() {
            return callers().limit(count).toList();
        }

        private Stream<PendingTake> callers() {
            return pendingTakes.stream().filter(pending -> pending.mode() == mode);
        }
    }

    /** To the first consumer that wants one, or back where it came from. */
    private void deliver(PendingTake.Mode mode, Delivery delivery) {
        for (PendingTake pending : pendingTakes) {
            if (pending.mode() == mode && !pending.isOver()) {
                pendingTakes.remove(pending);
                pending.deliver(session, layout, delivery);
                return;
            }
        }
        if (delivery.own()) {
            giveBack(mode, delivery);
        }
    }

    private void giveBack(PendingTake.Mode mode, Delivery delivery) {
        session.metrics().count("queue.return", layout.path().toString());
        if (mode == PendingTake.Mode.TAKE) {
            Requeue.of(session, layout, delivery);
        } else {
            ClaimedItem.giveBack(session, layout, delivery);
        }
    }

    private void onSessionState(SessionState next) {
        if (next == SessionState.SUSPENDED && watch.isFollowing()) {
            watch.stopFollowing();
            onFollowed(); // to look again: what is put from now on nobody tells of
        }
        Dequeuing onItsWay = dequeuing;
        if (next == SessionState.CLOSED && onItsWay != null && onItsWay.mode == PendingTake.Mode.TAKE) {
            List<PendingTake> others = new ArrayList<>(pendingTakes);
            others.removeAll(onItsWay.receivers()); // those are still answered; a claim goes with the session
            failThem(others, endOf(next));
        } else if (!next.isLive()) {
            failAll(endOf(next));
        }
    }

    private ConclaveException endOf(SessionState state) {
        return Failures.sessionEnded(state, "waiting for items of " + layout.path());
    }

    private void failAll(Throwable cause) {
        failThem(List.copyOf(pendingTakes), cause);
        proceed();
    }

    private void failThem(List<PendingTake> failed, Throwable cause) {
        pendingTakes.removeAll(failed);
        failed.forEach(pending -> pending.fail(cause));
    }

    @Override
    public String toString() {
        return "Consumers[" + layout.path() + ", " + pendingTakes.size() + " waiting, " + turn + "]";
    }
}
