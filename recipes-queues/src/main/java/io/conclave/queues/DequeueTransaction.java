package io.conclave.queues;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.line.ProcessName;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.SetData;
import io.conclave.spi.Elapsed;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One step of a consumer: reads some items and then takes or claims them all in one transaction, or buries the first if
 * it was delivered too often.
 *
 * <p>The transaction does not rely on what was seen before it: an item is deleted or claimed only in the version that
 * was read, and only if it is not claimed. (There is no operation that checks that a znode is not there; making the
 * claim is refused where there is one. To take an item its claim is made and deleted at once.) So the line of consumers
 * is for less contention and for fairness; exclusion does not depend on it. State belongs to the session's dispatcher.
 */
final class DequeueTransaction implements CommitMarker.Outcome {
    private static final int MAX_BYTES = 500_000; // what a server takes in one request is a megabyte

    private final RecipeSession session;
    private final QueueLayout layout;
    private final PendingTake.Kind kind;
    private final Outcome outcome;
    private final List<ItemName> items;
    private final List<Delivery> read = new ArrayList<>();
    private Step step = Step.READING;
    private Elapsed sentAt;
    private int operationsEach;
    private int kept = Integer.MAX_VALUE; // of what is taken; the rest goes back with the session's end
    private @Nullable Sender sender;
    /** Whether there is a dead letter of the same name, which an operator has copied back into the queue. */
    private boolean wasBuriedBefore;

    private enum Step {
        READING,
        DEQUEUING,
        BURYING
    }

    /** What comes of it; one of these is called, on the dispatcher. */
    interface Outcome {
        /** These are ours: deleted or claimed. */
        void dequeued(List<Delivery> deliveries);

        /** It was delivered too often, and is a dead letter now. */
        void buried(ItemName item);

        /** Nothing was done, because this one has changed. */
        void stale(ItemName item);

        /** Nothing was done, because the store refuses this one; it need not refuse the others. */
        void unusable(ItemName item, RefusedException refusal);

        /** Nothing was done, and it may be tried again. */
        void again();

        /** Nothing can be done. */
        void failed(Throwable cause);

        /** How many callers still wait for what it dequeues. */
        int wanted();
    }

    /** How it sends its transaction. */
    @FunctionalInterface
    interface Sender {
        void send(List<Operation<?>> operations, int dequeued, CommitMarker.Outcome outcome);
    }

    DequeueTransaction(
            RecipeSession session, QueueLayout layout, PendingTake.Kind kind, List<ItemName> items, Outcome outcome) {
        this.session = session;
        this.layout = layout;
        this.kind = kind;
        this.items = List.copyOf(items);
        this.outcome = outcome;
        this.sentAt = Elapsed.since(session.time());
    }

    /**
     * Begins. All reads are sent at once; their answers come in order.
     *
     * @param prefetched what was read already; if it has all, nothing is read
     */
    void begin(Map<ItemName, Delivery> prefetched, Sender sender) {
        if (prefetched.keySet().containsAll(items)) {
            items.forEach(item -> read.add(Objects.requireNonNull(prefetched.get(item))));
            transact(sender);
        } else {
            Reads reads = new Reads(sender);
            items.forEach(reads::ask);
        }
    }

    /** The reads that are under way. */
    private final class Reads {
        private final Sender sender;
        private @Nullable Throwable failure;
        private @Nullable ItemName gone;
        private @Nullable Runnable onUnusable; // if one may not be read

        Reads(Sender sender) {
            this.sender = sender;
        }

        void ask(ItemName item) {
            boolean isLast = item.equals(items.get(items.size() - 1));
            session.send(
                    GetData.of(layout.item(item)),
                    node -> {
                        read.add(new Delivery(item, node.data(), node.stat().version(), sentAt));
                        answered(isLast);
                    },
                    cause -> {
                        if (Failures.isNoNode(cause)) {
                            gone = item;
                        } else if (cause instanceof RefusedException refusal && !Failures.mayPass(refusal)) {
                            onUnusable = () -> outcome.unusable(item, refusal);
                        } else {
                            failure = cause;
                        }
                        answered(isLast);
                    });
        }

        private void answered(boolean isLast) {
            if (!isLast) {
                return;
            }
            Throwable cause = failure;
            ItemName stale = gone;
            Runnable unusable = onUnusable;
            if (cause instanceof OutcomeUnknownException) {
                outcome.again();
            } else if (cause != null) {
                outcome.failed(cause);
            } else if (stale != null) {
                outcome.stale(stale);
            } else if (unusable != null) {
                unusable.run();
            } else {
                guarded(() -> transact(sender));
            }
        }
    }

    private void guarded(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            outcome.failed(e);
        }
    }

    private void transact(Sender by) {
        sender = by;
        sentAt = Elapsed.since(session.time());
        List<Operation<?>> operations = new ArrayList<>();
        if (hasReachedMaxDeliveries(read.get(0))) {
            step = Step.BURYING;
            read.subList(1, read.size()).clear();
            bury(read.get(0), operations);
            operationsEach = operations.size();
            by.send(operations, 0, this);
            return;
        }
        step = Step.DEQUEUING;
        limit();
        for (Delivery one : read) {
            if (claims()) {
                claim(one, operations);
            } else {
                take(one, operations);
            }
        }
        operationsEach = operations.size() / read.size();
        by.send(operations, read.size(), this);
    }

    private boolean claims() {
        return kind.mode() == PendingTake.Mode.CLAIM;
    }

    private boolean hasReachedMaxDeliveries(Delivery one) {
        return claims() && one.version() >= kind.maxDeliveries();
    }

    /** No more than fits into a request, and none that was claimed often enough. */
    private void limit() {
        int bytes = 0;
        int count = 0;
        while (count < read.size() && !hasReachedMaxDeliveries(read.get(count))) {
            bytes += claims() ? read.get(count).data().length : 0;
            if (count > 0 && bytes > MAX_BYTES) {
                break;
            }
            count++;
        }
        read.subList(count, read.size()).clear();
    }

    private Create claimOf(Delivery one) {
        return Create.of(layout.claim(one.item())).withData(ProcessName.bytes()).withMode(CreateMode.EPHEMERAL);
    }

    private void take(Delivery one, List<Operation<?>> operations) {
        operations.add(claimOf(one));
        operations.add(Delete.of(layout.claim(one.item())));
        operations.add(Delete.of(layout.item(one.item())).withVersion(one.version()));
    }

    private void claim(Delivery one, List<Operation<?>> operations) {
        operations.add(claimOf(one));
        operations.add(
                SetData.of(layout.item(one.item()), one.data()).withVersion(one.version())); // counts the delivery
    }

    private void bury(Delivery one, List<Operation<?>> operations) {
        take(one, operations);
        NodePath deadLetter = layout.dead().child(one.item().name());
        operations.add(
                wasBuriedBefore
                        ? SetData.of(deadLetter, one.data())
                        : Create.of(deadLetter).withData(one.data()));
    }

    @Override
    public void applied(List<Multi.Result> results) {
        if (step == Step.BURYING) {
            outcome.buried(read.get(0).item());
        } else {
            int more = claims() ? 1 : 0;
            outcome.dequeued(read.stream()
                    .limit(kept)
                    .map(one -> new Delivery(one.item(), one.data(), one.version() + more, sentAt))
                    .toList());
        }
    }

    /** What is claimed comes back with the session's end by itself. */
    @Override
    public List<Create> onClosing() {
        if (step != Step.DEQUEUING || claims()) {
            return List.of();
        }
        kept = Math.min(outcome.wanted(), read.size());
        return read.subList(kept, read.size()).stream()
                .map(one -> Create.of(layout.item(one.item())).withData(one.data()))
                .toList();
    }

    @Override
    public void refused(int index, RefusedException refusal) {
        boolean isOfDeadLetters = step == Step.BURYING && index == operationsEach - 1;
        Sender by = sender;
        if (isOfDeadLetters && Failures.is(refusal, RefusalReason.NODE_EXISTS) && by != null) {
            wasBuriedBefore = true; // the dead letter that is there is this item: it gets what the item is now
            guarded(() -> transact(by));
        } else if (isOfDeadLetters && Failures.isNoNode(refusal)) {
            Waiting.whenDone(
                    ParentMaker.makeContainers(session, layout.dead()), made -> outcome.again(), this::onNotBuried);
        } else if (Failures.isStale(refusal) && !isOfDeadLetters) {
            outcome.stale(read.get(index / operationsEach).item());
        } else if (isOfDeadLetters) {
            onNotBuried(refusal);
        } else if (isOfTheItem(index, refusal)) {
            outcome.unusable(read.get(index / operationsEach).item(), refusal);
        } else {
            outcome.failed(refusal);
        }
    }

    /** The others need no room and no right among the dead letters. */
    private void onNotBuried(Throwable cause) {
        if (cause instanceof RefusedException refusal) {
            outcome.unusable(first(), refusal);
        } else {
            outcome.failed(cause);
        }
    }

    /** Whether another item may be taken. What the queue's own ACL forbids is forbidden for all. */
    private boolean isOfTheItem(int index, RefusedException refusal) {
        boolean countsDelivery = step == Step.DEQUEUING && claims() && index % operationsEach == 1;
        return Failures.is(refusal, RefusalReason.NOT_EMPTY) || (countsDelivery && !Failures.mayPass(refusal));
    }

    @Override
    public void notApplied() {
        outcome.again();
    }

    /** The marker does not tell: what it would have told is read from the first item, as far as that can tell it. */
    @Override
    public void unclear(boolean first, OutcomeUnknownException cause) {
        session.readLatest(
                layout.path(),
                GetData.of(step == Step.DEQUEUING && claims() ? layout.claim(first()) : layout.item(first())),
                node -> onStillThere(node.stat().ephemeralOwner()),
                failure -> onGone(failure, cause));
    }

    private ItemName first() {
        return read.get(0).item();
    }

    private void onStillThere(long owner) {
        if (claims() && step == Step.DEQUEUING && owner == session.id()) {
            applied(List.of());
        } else {
            outcome.again();
        }
    }

    private void onGone(Throwable failure, OutcomeUnknownException cause) {
        if (!Failures.isNoNode(failure)) {
            Retry.lookAgain(session, this, cause, failure, () -> unclear(false, cause), outcome::failed);
        } else if (claims()) {
            outcome.again();
        } else {
            outcome.failed(new OutcomeUnknownException(
                    "Take of " + first().name() + " from " + layout.path()
                            + ": the reply was lost, and the item is gone. Most likely another consumer has it; but if "
                            + "another client has deleted a commit marker in " + layout.commitMarkers()
                            + ", this call may have taken it, and it is lost. Take again, and look for the item "
                            + "elsewhere",
                    cause));
        }
    }

    @Override
    public void failed(Throwable cause) {
        boolean isAlone = read.size() == 1;
        if (isAlone && cause instanceof RefusedException refusal && refusal.reason() == RefusalReason.BAD_ARGUMENTS) {
            outcome.unusable(first(), refusal); // too large to be written once more
        } else {
            outcome.failed(cause);
        }
    }

    @Override
    public String toString() {
        return "DequeueTransaction[" + layout.path() + ", " + step + "]";
    }
}
