package io.conclave.queues;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.line.ProcessName;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.SetData;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells after a lost reply whether a transaction took effect: an ephemeral znode {@code <queue>/witnesses/<guid>} that
 * every transaction writes to as well, on condition of its version.
 *
 * <p>The znodes that a transaction of a queue makes or deletes do not tell it: an item that was put may have been taken
 * by the time we look, and one that was taken may have been taken by another consumer. The marker is ours alone, and
 * its version counts what took effect. It is made by the first transaction, costs none of its own, and is deleted when
 * it was not needed for a second.
 *
 * <p>Transactions go one at a time. State belongs to the session's dispatcher.
 */
final class CommitMarker {
    /** How long what may soon be needed again is kept. */
    static final Duration LINGER = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(CommitMarker.class);

    private final RecipeSession session;
    private final NodePath directory;
    private final Queue<Transaction> waiting = new ArrayDeque<>();
    private String guid = UUID.randomUUID().toString();
    private boolean there;
    private int version;
    private @Nullable Transaction current;
    private TimeSource.Timer linger = () -> {};

    /** What comes of a transaction; one of these is called, on the dispatcher. */
    interface Outcome {
        /** It took effect. */
        void applied(List<Multi.Result> results);

        /** It had no effect, because this operation was refused, counted among those of the caller. */
        void refused(int index, RefusedException refusal);

        /** It had no effect, and may be tried again. */
        void notApplied();

        /**
         * Its reply was lost, and the marker does not tell: it is not there, or may not be read.
         *
         * @param first whether the transaction was to make the marker, which is not there: then it had no effect,
         *     unless the marker has been deleted since; otherwise nothing is known of its effect
         */
        void unclear(boolean first, OutcomeUnknownException cause);

        /**
         * The session is about to be closed, before the answer comes.
         *
         * @return what puts back what the transaction took and no caller waits for any more
         */
        default List<Create> onClosing() {
            return List.of();
        }

        /**
         * It had no effect that matters: the session is gone, the coordinator closed, or something unexpected happened.
         * {@link OutcomeUnknownException} if it may have had its effect.
         */
        void failed(Throwable cause);
    }

    private record Transaction(
            @Nullable LineTurn turn, boolean leaves, List<Operation<?>> operations, Outcome outcome) {}

    CommitMarker(RecipeSession session, NodePath directory) {
        this.session = session;
        this.directory = directory;
    }

    /** Whether nothing is under way and nothing is left. */
    boolean isIdle() {
        return current == null && !there;
    }

    /** Performs a transaction. */
    void perform(List<Operation<?>> operations, Outcome outcome) {
        begin(new Transaction(null, false, operations, outcome));
    }

    /**
     * Performs a transaction on condition that a turn is held.
     *
     * @param leaves whether it gives the turn up as well
     */
    void perform(LineTurn turn, boolean leaves, List<Operation<?>> operations, Outcome outcome) {
        begin(new Transaction(turn, leaves, operations, outcome));
    }

    private void begin(Transaction transaction) {
        if (current != null) {
            waiting.add(transaction);
            return;
        }
        current = transaction;
        linger.cancel();
        LineTurn turn = transaction.turn;
        if (turn != null && !turn.isHeld()) {
            over(Outcome::notApplied);
            return;
        }
        List<Operation<?>> operations = new ArrayList<>(transaction.operations.size() + 2);
        operations.add(stamp());
        operations.addAll(transaction.operations);
        if (turn != null) { // last, so that we hear of the items before we hear that the turn is not ours any more
            operations.add(transaction.leaves ? turn.deletion() : turn.check());
        }
        Multi multi = new Multi(operations);
        if (turn != null && transaction.leaves) {
            turn.turnInto(multi, results -> onApplied(transaction, results), cause -> onFailure(transaction, cause));
        } else {
            session.send(multi, results -> onApplied(transaction, results), cause -> onFailure(transaction, cause));
        }
    }

    private NodePath path() {
        return directory.child(guid);
    }

    private Operation<?> stamp() {
        byte[] owner = ProcessName.bytes();
        return there
                ? SetData.of(path(), owner).withVersion(version)
                : Create.of(path()).withData(owner).withMode(CreateMode.EPHEMERAL);
    }

    private void stamped() {
        version = there ? version + 1 : 0;
        there = true;
    }

    /** Another znode from now on. */
    private void reset() {
        guid = UUID.randomUUID().toString();
        there = false;
    }

    private void onApplied(Transaction transaction, List<Multi.Result> results) {
        stamped();
        over(outcome -> outcome.applied(results.subList(1, 1 + transaction.operations.size())));
    }

    private void onFailure(Transaction transaction, Throwable cause) {
        if (cause instanceof OutcomeUnknownException unknown) {
            session.metrics().count("queue.recover", directory.toString());
            findOut(unknown);
        } else if (cause instanceof RefusedException refused) {
            onRefused(transaction, refused);
        } else {
            over(outcome -> outcome.failed(cause));
        }
    }

    private void onRefused(Transaction transaction, RefusedException refused) {
        int index = refused.operationIndex().orElse(-1) - 1;
        LineTurn turn = transaction.turn;
        if (index >= 0 && index < transaction.operations.size()) {
            over(outcome -> outcome.refused(index, refused));
        } else if (turn != null && index == transaction.operations.size() && Failures.isNoNode(refused)) {
            turn.leave(); // the server says that our place is not there
            over(Outcome::notApplied);
        } else if (index == -1 && there && Failures.isStale(refused)) {
            reset(); // another client has deleted it or written to it
            over(Outcome::notApplied);
        } else if (index == -1 && Failures.isNoNode(refused)) {
            makeDirectory();
        } else {
            over(outcome -> outcome.failed(refused));
        }
    }

    private void makeDirectory() {
        Waiting.whenDone(
                ParentMaker.makeContainers(session, directory),
                made -> over(Outcome::notApplied),
                cause -> over(outcome -> outcome.failed(cause)));
    }

    /**
     * The session is about to be closed. What the transaction on its way took for callers that have gone is put back
     * behind it, on condition that it took effect: when its answer comes, nothing can be sent any more.
     */
    void onClosing() {
        Transaction onItsWay = current;
        if (onItsWay == null) {
            return;
        }
        Check tookEffect = new Check(path(), there ? version + 1 : 0);
        for (Create item : onItsWay.outcome.onClosing()) { // one at a time, since they may be large
            session.send(
                    Multi.of(tookEffect, item),
                    results -> LOG.debug("{}: put back", item.path()),
                    cause -> onNotPutBack(item, cause));
        }
    }

    private static void onNotPutBack(Create item, Throwable cause) {
        boolean hadNoEffect = cause instanceof RefusedException refused
                && refused.operationIndex().orElse(-1) == 0;
        if (!hadNoEffect) {
            LOG.warn(
                    "{}: may have been taken for a caller that had gone when the coordinator was closed, and may not "
                            + "be back: {}",
                    item.path(),
                    cause.toString());
        }
    }

    /** The transaction took effect before the first answer on the next connection, or never will. */
    private void findOut(OutcomeUnknownException unknown) {
        session.readLatest(
                directory,
                GetData.of(path()),
                node -> onFound(node.stat(), unknown),
                cause -> onNotFound(cause, unknown));
    }

    private void onFound(NodeStat stat, OutcomeUnknownException unknown) {
        boolean isOurs = stat.ephemeralOwner() == session.id();
        if (isOurs && stat.version() == (there ? version + 1 : 0)) {
            stamped();
            over(outcome -> outcome.applied(List.of()));
        } else if (isOurs && there && stat.version() == version) {
            over(Outcome::notApplied);
        } else {
            reset(); // another client has written to it
            over(outcome -> outcome.unclear(false, unknown));
        }
    }

    private void onNotFound(Throwable cause, OutcomeUnknownException unknown) {
        if (Failures.isNoNode(cause)) {
            boolean first = !there;
            reset();
            over(outcome -> outcome.unclear(first, unknown));
        } else {
            Retry.ifItMayPass(session, this, cause, () -> findOut(unknown), other -> onNotRead(other, unknown));
        }
    }

    /** It may be there, with the transaction or without it; the next transaction cannot use it. */
    private void onNotRead(Throwable cause, OutcomeUnknownException unknown) {
        discard();
        if (cause instanceof RefusedException) {
            over(outcome -> outcome.unclear(false, unknown));
        } else {
            over(outcome -> outcome.failed(Failures.inDoubt(unknown, cause)));
        }
    }

    /** The next transaction may go. What goes wrong in an outcome must not keep it. */
    private void over(Consumer<Outcome> tell) {
        Transaction done = current;
        if (done == null) {
            return;
        }
        current = null;
        try {
            tell.accept(done.outcome);
        } catch (RuntimeException e) {
            LOG.error("Unexpected failure behind a transaction under {}", directory, e);
            done.outcome.failed(e);
        }
        Transaction next = current == null ? waiting.poll() : null;
        if (next != null) {
            begin(next);
        } else if (current == null && there) {
            linger = session.time().schedule(LINGER, () -> session.execute(this::retire));
        }
    }

    private void retire() {
        if (current == null && there) {
            discard();
        }
    }

    private void discard() {
        Retry.deleteUntilGone(session, path(), () -> {});
        reset();
    }

    @Override
    public String toString() {
        return "CommitMarker[" + path() + ", " + (there ? "version " + version : "not there") + "]";
    }
}
