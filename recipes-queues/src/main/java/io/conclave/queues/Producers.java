package io.conclave.queues;

import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.node.CreateMode;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Create;
import io.conclave.request.GetChildren;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * All producers of one queue in one session. What gathers while a transaction is under way goes into the next one.
 *
 * <p>An item is put once, even if a reply is lost: the {@link CommitMarker} tells. Should another client have deleted
 * that one at the same moment, the items of the transaction are looked for by their guids; if none is found, consumers
 * may have been quicker, and the caller is told that the outcome is unknown. Only of the first transaction, which makes
 * the marker, it cannot be told whether it was ever there, and it is sent again: so an item is put twice if its reply
 * is lost, another process deletes the marker before the connection is back, and a consumer has taken the item by then.
 *
 * <p>With a bound, producers stand in a line as consumers do: at its head the items are listed with a watch, as many
 * are put as there is room, and when there is none a consumer wakes that one producer. So the bound holds among all
 * producers that keep it. State belongs to the session's dispatcher.
 */
final class Producers implements QueueAgents.Agent, LineTurn.Listener, ItemsWatch.Looker {
    private static final int MAX_AT_ONCE = 64;
    private static final int MAX_BYTES_AT_ONCE = 500_000; // what a server takes in one request is a megabyte

    private final RecipeSession session;
    private final QueueLayout layout;
    private final OptionalInt bound;
    private final LineTurn turn;
    private final CommitMarker marker;
    private final ItemsWatch watch;
    private final Registration sessionListener;
    private final Deque<Put> puts = new ArrayDeque<>();
    private boolean sending;
    private int room;

    Producers(RecipeSession session, QueueLayout layout, OptionalInt bound) {
        this.session = session;
        this.layout = layout;
        this.bound = bound;
        this.turn = new LineTurn(session, layout.producers(), this);
        this.marker = new CommitMarker(session, layout.commitMarkers());
        this.watch = new ItemsWatch(session, layout, turn, this);
        this.sessionListener = session.onStateChange(this::onSessionState);
    }

    @Override
    public boolean isIdle() {
        return puts.isEmpty() && turn.isOut() && !sending && marker.isIdle();
    }

    @Override
    public void close() {
        sessionListener.close();
    }

    /** One more to put; if the queue has a bound, within a time if there is one. */
    void add(Put put, Optional<Duration> timeout) {
        if (!session.state().isLive()) {
            put.fail(endOf(session.state()));
            return;
        }
        puts.add(put);
        timeout.filter(limit -> bound.isPresent()).ifPresent(limit -> limit(put, limit));
        proceed();
    }

    private void limit(Put put, Duration limit) {
        if (limit.isZero()) {
            put.atOnce();
        }
        Duration time = limit.isZero() ? session.tryTimeout() : limit;
        put.endsBy(session.time().schedule(time, () -> session.execute(() -> abandon(put))));
    }

    /** There is no room now, or other producers come first: what does not wait for that ends. */
    private void endThoseAtOnce() {
        List<Put> ended =
                puts.stream().filter(put -> put.isAtOnce() && !put.isSent()).toList();
        puts.removeAll(ended);
        ended.forEach(put -> put.end(false));
        if (!ended.isEmpty()) {
            proceed();
        }
    }

    /** Takes a put back that is not on its way; one that is, if it turns out to have had no effect. */
    void abandon(Put put) {
        if (put.isSent()) {
            put.giveUp();
        } else if (puts.remove(put)) {
            endNotPut(put);
            proceed();
        }
    }

    /** Its time is over: a limit, or the one that the store had to answer a plain try. */
    private void endNotPut(Put put) {
        if (put.isAtOnce()) {
            put.fail(session.noAnswer(
                    "whether there is room in " + layout.path(), "The item is not put; try again later"));
        } else {
            put.end(false);
        }
    }

    @Override
    public void onTurn() {
        watch.disregard();
        room = 0;
        proceed();
    }

    @Override
    public void onMustWait() {
        endThoseAtOnce();
    }

    @Override
    public void onTurnLost() {
        if (!sending) {
            watch.stop();
        }
        proceed();
    }

    @Override
    public void onTurnRefused(Throwable cause) {
        failAll(cause);
    }

    private void proceed() {
        if (sending || watch.isLooking()) {
            return; // what follows comes back here
        }
        if (bound.isEmpty()) {
            if (!puts.isEmpty()) {
                send(MAX_AT_ONCE);
            }
        } else if (turn.isToWork(puts.isEmpty(), watch::stop)) {
            putWithinBound();
        } else if (turn.isBehindOthers()) {
            endThoseAtOnce();
        }
    }

    private void putWithinBound() {
        if (room > 0) {
            send(Math.min(room, MAX_AT_ONCE));
        } else if (!watch.isStanding()) {
            watch.look();
        } else {
            endThoseAtOnce(); // the watch tells the others
        }
    }

    @Override
    public void onListed(Collection<String> names) {
        room = bound.orElseThrow() - ItemName.all(names).size();
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

    private void send(int most) {
        List<Put> batch = new ArrayList<>();
        List<Operation<?>> creations = new ArrayList<>();
        int bytes = 0;
        for (Put put : puts) {
            bytes += put.data().length;
            if (batch.size() >= most || (!batch.isEmpty() && bytes > MAX_BYTES_AT_ONCE)) {
                break;
            }
            put.sent(true);
            batch.add(put);
            creations.add(Create.of(layout.path().child(put.namePrefix()))
                    .withData(put.data())
                    .withMode(CreateMode.PERSISTENT_SEQUENTIAL));
        }
        sending = true;
        if (bound.isEmpty()) {
            marker.perform(creations, new Batch(batch));
        } else {
            boolean leaves = turn.endsWith(batch.size(), batch.size() == puts.size());
            marker.perform(turn, leaves, creations, new Batch(batch));
        }
    }

    /** Items that are on their way in one transaction. */
    private final class Batch implements CommitMarker.Outcome {
        private final List<Put> batch;

        Batch(List<Put> batch) {
            this.batch = batch;
        }

        @Override
        public void applied(List<Multi.Result> results) {
            sending = false;
            room -= batch.size();
            turn.done(batch.size());
            for (Put put : batch) {
                puts.remove(put);
                session.metrics().count("queue.put", layout.path().toString());
                put.end(true);
            }
            proceed();
        }

        @Override
        public void refused(int index, RefusedException refusal) {
            if (Failures.isNoNode(refusal)) {
                Waiting.whenDone(layout.makeQueue(session), made -> again(), this::failed);
            } else {
                Put put = batch.get(index);
                puts.remove(put);
                put.fail(refusal);
                again();
            }
        }

        private void again() {
            sending = false;
            for (Put put : batch) {
                put.sent(false);
                if (put.isGivenUp() && puts.remove(put)) {
                    endNotPut(put);
                }
            }
            proceed();
        }

        @Override
        public void notApplied() {
            again();
        }

        @Override
        public void unclear(boolean first, OutcomeUnknownException cause) {
            session.readLatest(
                    layout.path(),
                    GetChildren.of(layout.path()),
                    children -> onListed(children.names(), first, cause),
                    failure -> onNotListed(failure, first, cause));
        }

        private void onListed(List<String> names, boolean first, OutcomeUnknownException cause) {
            boolean isThere = batch.stream().map(Put::guid).anyMatch(guid -> names.stream()
                    .anyMatch(name -> name.contains(guid)));
            if (isThere) {
                applied(List.of());
            } else {
                onNone(first, cause);
            }
        }

        private void onNotListed(Throwable failure, boolean first, OutcomeUnknownException cause) {
            if (Failures.isNoNode(failure)) {
                onNone(first, cause);
            } else {
                Retry.lookAgain(session, Producers.this, cause, failure, () -> unclear(first, cause), this::failed);
            }
        }

        private void onNone(boolean first, OutcomeUnknownException cause) {
            if (first) {
                again();
            } else {
                failed(new OutcomeUnknownException(
                        "Put into " + layout.path()
                                + ": the reply was lost, and neither its commit marker nor the item is there; a "
                                + "consumer may have been quicker",
                        cause));
            }
        }

        /** That it is not known what became of these says nothing of the others. */
        @Override
        public void failed(Throwable cause) {
            sending = false;
            fail(cause instanceof OutcomeUnknownException ? batch : List.copyOf(puts), cause);
        }
    }

    private void onSessionState(SessionState next) {
        if (next == SessionState.LOST) {
            failAll(endOf(next));
        } else if (next == SessionState.CLOSED) { // what is on its way is still answered
            fail(puts.stream().filter(put -> !put.isSent()).toList(), endOf(next));
        }
    }

    private ConclaveException endOf(SessionState state) {
        return Failures.sessionEnded(state, "putting into " + layout.path());
    }

    private void failAll(Throwable cause) {
        fail(List.copyOf(puts), cause);
    }

    private void fail(List<Put> failed, Throwable cause) {
        puts.removeAll(Set.copyOf(failed)); // there may be many
        failed.forEach(put -> put.fail(cause));
        proceed();
    }

    @Override
    public String toString() {
        return "Producers[" + layout.path() + ", " + puts.size() + " waiting, " + turn + "]";
    }
}
