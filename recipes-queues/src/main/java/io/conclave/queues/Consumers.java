package io.conclave.queues;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Registration;
import io.conclave.error.ClosedException;
import io.conclave.error.SessionGoneException;
import io.conclave.spi.GetData;
import io.conclave.spi.Operation;
import io.conclave.spi.SessionState;
import io.conclave.time.Elapsed;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All who wait for items of one queue in one session: one of them stands in the line of consumers for all.
 *
 * <ol>
 *   <li>Whoever wishes something makes the process enter the line, if it is not in it ({@link Seat}).
 *   <li>At its head: list the items with a watch. As many as there are wishes, and as a turn has, are read and taken or claimed in one transaction ({@link Draw}), which gives up the seat as well if others
 *       wait for it.
 *   <li>No items: wait for the watch. In a FIFO queue the list is worked off, and read again when it is exhausted or a second old; in a priority queue the watch makes it stale.
 * </ol>
 *
 * <p>So one process looks at the items at a time, a new item wakes one process, and what a take costs does not depend on how many wait. State belongs to the session's dispatcher.
 */
final class Consumers implements Seat.Sitter, ItemsWatch.Looker {
    private static final Logger LOG = LoggerFactory.getLogger(Consumers.class);

    /** How many items a process takes before others that wait have their turn. */
    static final int TURN = 16;

    /** How long a FIFO consumer works from a list of which something has changed: an item that comes back takes its place that much later at most. */
    private static final Duration LISTED_FOR = Duration.ofSeconds(1);

    private final RecipeSession session;
    private final QueueLayout layout;
    private final boolean byPriority;
    private final Seat seat;
    private final Witness witness;
    private final ItemsWatch watch;
    private final Deque<Wish> wishes = new ArrayDeque<>();
    private final Deque<ItemName> items = new ArrayDeque<>();
    private final Map<ItemName, Delivery> read = new HashMap<>();
    private final Registration sessionListener;
    private boolean returned;
    private Elapsed listedAt;
    private boolean drawing;
    private int drawnInTurn;

    Consumers(RecipeSession session, QueueLayout layout, boolean byPriority) {
        this.session = session;
        this.layout = layout;
        this.byPriority = byPriority;
        this.seat = new Seat(session, layout.consumers(), this);
        this.witness = new Witness(session, layout.witnesses());
        this.watch = new ItemsWatch(session, layout.path(), seat, this);
        this.listedAt = Elapsed.since(session.time());
        this.sessionListener = session.onStateChange(this::onSessionState);
    }

    /** Whether nothing is under way, and nobody waits. */
    boolean isIdle() {
        return wishes.isEmpty() && seat.isOut() && !drawing && !watch.isLooking() && witness.isIdle();
    }

    void close() {
        sessionListener.close();
    }

    /** An item at once or none, past those who wait in line. */
    void attempt(Wish wish) {
        if (session.state().isLive()) {
            new Attempt(session, layout, byPriority, witness, wish, one -> giveBack(wish.mode(), one)).begin();
        } else {
            wish.fail(endOf(session.state()));
        }
    }

    /** A new wish, with a limit of time if there is one. */
    void add(Wish wish, Optional<Duration> timeout) {
        if (!session.state().isLive()) {
            wish.fail(endOf(session.state()));
            return;
        }
        wishes.add(wish);
        timeout.ifPresent(limit -> wish.endsBy(session.time().schedule(limit, () -> session.execute(() -> end(wish)))));
        proceed();
    }

    private void end(Wish wish) {
        wish.endWithout();
        wishes.remove(wish);
        proceed();
    }

    /** Nobody wants to know any more; an item that has come meanwhile goes back. */
    void abandon(Wish wish) {
        if (wish.isOver()) {
            wish.outcome()
                    .thenAccept(result -> result.filter(Delivery::own).ifPresent(one -> giveBack(wish.mode(), one)));
        } else {
            end(wish);
        }
    }

    @Override
    public void onSeated() {
        drawnInTurn = 0;
        watch.disregard(); // to set it again is no second watch
        items.clear();
        read.clear();
        proceed();
    }

    @Override
    public void onUnseated() {
        if (!drawing) {
            stopWatching();
        }
        proceed();
    }

    @Override
    public void onSeatRefused(Throwable cause) {
        failAll(cause);
    }

    private void proceed() {
        if (drawing || watch.isLooking()) {
            return; // what follows comes back here
        }
        if (wishes.isEmpty()) {
            seat.rest();
            if (!seat.isHeld()) {
                stopWatching();
            }
        } else if (!seat.isHeld()) {
            seat.take();
        } else if (drawnInTurn >= TURN && seat.othersMayWait()) {
            seat.leave();
            stopWatching();
            seat.take();
        } else {
            seat.wake();
            work();
        }
    }

    private void work() {
        if (!watch.isStanding() && mustLook()) {
            look();
        } else if (!items.isEmpty()) {
            draw();
        } // else the watch tells
    }

    /** Whether the list will not do, of which something has changed. Of a FIFO queue that is an item that comes back before those that are left. */
    private boolean mustLook() {
        return byPriority
                || items.isEmpty()
                || returned
                || listedAt.remainingOf(LISTED_FOR).isZero();
    }

    /** An item of this session's has come back; whose else it may be, is heard of when the list is read again. */
    void onReturned() {
        returned = true;
        watch.disregard();
    }

    private void look() {
        returned = false;
        listedAt = Elapsed.since(session.time());
        watch.look();
    }

    @Override
    public void onListed(List<String> names) {
        items.clear();
        items.addAll(ItemName.unclaimed(names, byPriority));
        read.clear();
        proceed();
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
        watch.stop();
        items.clear();
        read.clear();
    }

    private void draw() {
        Wish first = wishes.getFirst();
        List<Wish> served = new ArrayList<>();
        for (Wish wish : wishes) {
            boolean fits = wish.mode() == first.mode() && wish.maxDeliveries() == first.maxDeliveries();
            if (!fits || served.size() >= items.size() || served.size() >= TURN) {
                break;
            }
            served.add(wish);
        }
        List<ItemName> chosen = items.stream().limit(served.size()).toList();
        drawing = true;
        Draw draw = new Draw(session, layout, first.mode(), first.maxDeliveries(), chosen, new Drawing(first.mode()));
        draw.begin(read, this::send);
    }

    private void send(List<Operation<?>> operations, int drawn, Witness.Outcome outcome) {
        boolean isLast = drawn > 0 && (drawn >= wishes.size() || drawnInTurn + drawn >= TURN);
        witness.perform(seat, isLast && seat.othersMayWait(), operations, outcome);
        if (!isLast || !seat.othersMayWait()) {
            items.stream().skip(drawn).findFirst().ifPresent(this::prefetch);
        }
    }

    /** Reads the item behind those that are being drawn: it comes next. */
    private void prefetch(ItemName item) {
        if (byPriority || read.containsKey(item)) {
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
    private final class Drawing implements Draw.Outcome {
        private final Wish.Mode mode;

        Drawing(Wish.Mode mode) {
            this.mode = mode;
        }

        @Override
        public void drawn(List<Delivery> deliveries) {
            drawing = false;
            drawnInTurn += deliveries.size();
            for (Delivery one : deliveries) {
                items.remove(one.item());
                read.remove(one.item());
            }
            deliveries.forEach(one -> deliver(mode, one));
            proceed();
        }

        @Override
        public void buried(ItemName item) {
            drawing = false;
            items.remove(item);
            LOG.warn("{}: {} was delivered too often, and is a dead letter now", layout.path(), item.name());
            session.metrics().count("queue.dead", layout.path().toString());
            proceed();
        }

        @Override
        public void stale(ItemName item) {
            drawing = false;
            items.clear();
            read.clear();
            watch.disregard(); // so that the list is read again
            proceed();
        }

        @Override
        public void again() {
            drawing = false;
            read.clear();
            proceed();
        }

        @Override
        public void failed(Throwable cause) {
            drawing = false;
            failAll(cause);
        }
    }

    /** To the first who wants one, or back where it came from. */
    private void deliver(Wish.Mode mode, Delivery delivery) {
        for (Wish wish : wishes) {
            if (wish.mode() == mode && !wish.isOver()) {
                wishes.remove(wish);
                wish.deliver(session, layout, delivery);
                return;
            }
        }
        if (delivery.own()) {
            giveBack(mode, delivery);
        }
    }

    private void giveBack(Wish.Mode mode, Delivery delivery) {
        session.metrics().count("queue.return", layout.path().toString());
        if (mode == Wish.Mode.TAKE) {
            PutBack.of(session, layout, delivery);
        } else {
            ClaimedItem.giveBack(session, layout, delivery);
        }
    }

    private void onSessionState(SessionState next) {
        if (!next.isLive()) {
            failAll(endOf(next));
        }
    }

    private RuntimeException endOf(SessionState state) {
        return state == SessionState.CLOSED
                ? new ClosedException("The coordinator was closed while waiting for items of " + layout.path())
                : new SessionGoneException("The session was lost while waiting for items of " + layout.path());
    }

    private void failAll(Throwable cause) {
        List<Wish> failed = List.copyOf(wishes);
        wishes.clear();
        failed.forEach(wish -> wish.fail(cause));
        proceed();
    }

    @Override
    public String toString() {
        return "Consumers[" + layout.path() + ", " + wishes.size() + " waiting, " + seat + "]";
    }
}
