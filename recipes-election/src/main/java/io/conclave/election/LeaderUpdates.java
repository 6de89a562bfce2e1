package io.conclave.election;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.node.Bytes;
import io.conclave.recipe.Failures;
import io.conclave.request.GetData;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The records that a leader wants in its {@link LeaderNode}, written in order, one at a time.
 *
 * <p>Each is written in one transaction with a check of the leader's place, and over the version that was seen last. So
 * a leader whose place is gone writes nothing, however late its request arrives. If the reply is lost, or somebody else
 * has changed the znode, the node looks at what is there now: either this record stands there, or it is written again.
 *
 * <p>State belongs to the session's dispatcher.
 */
final class LeaderUpdates {
    private final LeaderNode node;
    private final Deque<Update> updates = new ArrayDeque<>(); // the first is being written
    private boolean isUnderWay;
    private boolean isTried; // the first one, so that it may stand there

    private record Update(byte[] record, CompletableFuture<Boolean> written) {}

    LeaderUpdates(LeaderNode node) {
        this.node = node;
    }

    /** The stage completes with false if the leader leads no more; with a failure if the backend refuses the record. */
    CompletionStage<Boolean> add(byte[] record) {
        Update update = new Update(record, new CompletableFuture<>());
        if (node.hasEnded()) {
            update.written.complete(false);
        } else {
            updates.add(update);
            writeFirst();
        }
        return update.written;
    }

    private void writeFirst() {
        Update first = updates.peek();
        if (first != null && !isUnderWay && node.write(first.record, this::onNotWritten)) {
            isUnderWay = true;
            isTried = true;
        }
    }

    /** The first one stands there. */
    void onWritten() {
        Update first = removeFirst();
        node.becomes(first.record);
        first.written.complete(true);
        writeFirst();
    }

    private Update removeFirst() {
        isUnderWay = false;
        isTried = false;
        return updates.remove();
    }

    private void onNotWritten(Throwable cause) {
        isUnderWay = false;
        if (node.hasEnded() || Failures.isSessionOver(cause) || isPlaceGone(cause)) {
            end();
        } else if (cause instanceof OutcomeUnknownException || Failures.isStale(cause)) {
            node.lookAgain();
        } else {
            removeFirst().written.completeExceptionally(cause);
            writeFirst();
        }
    }

    private static boolean isPlaceGone(Throwable cause) {
        return Failures.is(cause, RefusalReason.NO_NODE, LeaderNode.CHECK);
    }

    /** The leader's znode was read, and has its record, or the first one here. */
    void onPresent(GetData.NodeData present) {
        if (!isUnderWay && isWriting(present.bytes())) {
            onWritten();
        } else {
            writeFirst();
        }
    }

    /** Whether the first one may stand there, and is this. */
    boolean isWriting(Bytes present) {
        Update first = updates.peek();
        return first != null && isTried && present.contentEquals(first.record);
    }

    /** The leader leads no more; what is under way ends with its answer. */
    void end() {
        Update underWay = isUnderWay ? updates.remove() : null;
        updates.forEach(update -> update.written.complete(false));
        updates.clear();
        if (underWay != null) {
            updates.add(underWay);
        }
    }
}
