package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.grant.FencingToken;
import io.conclave.line.GrantLoss;
import io.conclave.line.StagedRequest;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.Retry;
import io.conclave.recovery.SessionFollower;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.request.Watcher;
import io.conclave.spi.Elapsed;
import io.conclave.spi.SessionDeadline;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A lease that this process holds, over as many sessions as there are: its znode belongs to none of them.
 *
 * <p>Its time counts from before the request that wrote the znode was sent, on both of this machine's clocks, and one
 * percent faster ({@link Elapsed}). Others count the same time from after they have seen what was written, on their
 * monotonic clocks ({@link LeaseSightings}): so it ends here first. A watch on the znode tells when another has
 * released it. State belongs to the dispatcher of the current session; methods that others may call say so.
 */
final class LeaseHold extends StagedRequest implements SessionFollower.Work {
    private final Coordinator coordinator;
    private final NodePath path;
    private final String resource;
    private final SessionFollower follower;
    private final SessionDeadline deadline = new SessionDeadline();
    private final List<Extension> extensions = new ArrayList<>();
    private final Watcher watcher = this::onEvent;
    private final Optional<RecipeSession> maker; // on which the znode was made, and therefore is seen
    private TimeSource.Timer end = () -> {};
    private final String writer; // of all that this object writes
    private volatile LeaseRecord record; // written on a dispatcher only, as the next
    private volatile FencingToken token;
    private OptionalInt version = OptionalInt.empty(); // of the record as we know it

    /** A call that wants the lease to begin anew. */
    private record Extension(Duration lease, CompletableFuture<Void> done) {}

    private LeaseHold(
            Coordinator coordinator, LeaseLayout layout, String id, LeaseRecord record, Optional<RecipeSession> maker) {
        this.writer = record.writer();
        this.coordinator = coordinator;
        this.path = layout.lease(id);
        this.resource = layout.path().toString();
        this.record = record;
        this.token = new FencingToken(0, 0);
        this.maker = maker;
        this.follower = new SessionFollower(coordinator, this);
        granted.complete(null);
    }

    /**
     * A lease that was just granted. On the dispatcher.
     *
     * @param record as its znode was made with it, with its writer
     * @param stat of its znode
     * @param sentAt a moment before that was asked for
     */
    static LeaseHold granted(
            Coordinator coordinator,
            LeaseLayout layout,
            String id,
            LeaseRecord record,
            RecipeSession maker,
            NodeStat stat,
            Elapsed sentAt) {
        LeaseHold hold = new LeaseHold(coordinator, layout, id, record, Optional.of(maker));
        hold.token = new FencingToken(maker.generation(), stat.czxid());
        hold.deadline.extend(sentAt, record.lease());
        // Else another process has gone on with it already, before a lost reply was made up for.
        hold.version = stat.version() == 0 ? OptionalInt.of(0) : OptionalInt.empty();
        hold.follower.follow();
        return hold;
    }

    /**
     * Takes part in a grant of another process, or of an earlier life of this one, by beginning its lease anew. Any
     * thread; completes on a dispatcher; empty if there is no such grant any more. After a failure nothing of it is
     * followed.
     */
    static CompletableFuture<Optional<LeaseHold>> resume(
            Coordinator coordinator, LeaseLayout layout, String id, Duration lease) {
        LeaseRecord unread = new LeaseRecord(lease, 1, "", LeaseRecord.newWriter());
        LeaseHold hold = new LeaseHold(coordinator, layout, id, unread, Optional.empty());
        hold.follower.follow();
        CompletableFuture<Optional<LeaseHold>> resumed = new CompletableFuture<>();
        hold.extend(lease).whenComplete((done, failure) -> {
            if (failure == null) {
                resumed.complete(Optional.of(hold));
            } else if (hold.lost.getNow(LossReason.REFUSED) == LossReason.COORDINATOR_CLOSED) {
                resumed.completeExceptionally(new ClosedException(
                        "The coordinator was closed while resuming " + hold.path + "; its lease may have begun anew"));
            } else if (failure instanceof GrantLostException) {
                resumed.complete(Optional.empty());
            } else {
                hold.end(LossReason.REFUSED);
                resumed.completeExceptionally(failure);
            }
        });
        return resumed;
    }

    @Override
    public void onSession(RecipeSession next) {
        if (isOver()) {
            follower.end();
            return;
        }
        if (maker.filter(session -> session == next).isPresent()) {
            watch(next);
        } else {
            watchLatest(next);
        }
        armEnd();
        if (!extensions.isEmpty()) {
            version = OptionalInt.empty(); // what the last session has sent may have taken effect
        }
        List.copyOf(extensions).forEach(this::begin);
    }

    private void watch(RecipeSession on) {
        on.read(watching(), stat -> onWatched(on, stat), cause -> onNotWatched(on, cause, () -> watch(on)));
    }

    /** On a session whose server may lag behind the lease. */
    private void watchLatest(RecipeSession on) {
        on.readLatest(
                path, watching(), stat -> onWatched(on, stat), cause -> onNotWatched(on, cause, () -> watchLatest(on)));
    }

    private Request<Optional<NodeStat>> watching() {
        return Exists.of(path).withWatcher(watcher);
    }

    /** What cannot be watched at all ends with its time. */
    private void onNotWatched(RecipeSession on, Throwable cause, Runnable again) {
        Runnable ifHeld = () -> {
            if (!isOver() && follower.isCurrent(on)) {
                again.run();
            }
        };
        Retry.ifItMayPass(on, this, cause, ifHeld, refusal -> {});
    }

    private void onWatched(RecipeSession on, Optional<NodeStat> stat) {
        if (isOver()) {
            on.unwatch(path, watcher); // it has ended since it asked for the watch
        } else if (stat.isEmpty() && follower.isCurrent(on)) {
            onDeleted();
        }
    }

    /** Another has released it; or taken it, which may be heard of before the timer has run. */
    private void onDeleted() {
        boolean wasHeld = token.sequence() > 0;
        lose(wasHeld && deadline.remaining().isZero() ? LossReason.TIME_OVER : LossReason.NODE_DELETED);
    }

    private void onEvent(NodeEvent event) {
        if (event.type() == NodeEvent.Type.DELETED) {
            onDeleted();
        } else if (event.type() == NodeEvent.Type.DATA_CHANGED && !isOver()) {
            watch(follower.session());
        }
    }

    /** Begins the lease anew. Any thread; completes on a dispatcher. */
    CompletableFuture<Void> extend(Duration lease) {
        Extension extension = new Extension(lease, new CompletableFuture<>());
        follower.execute(() -> {
            if (isOver()) {
                extension.done.completeExceptionally(lostException());
            } else {
                extensions.add(extension);
                begin(extension);
            }
        });
        return extension.done;
    }

    private void begin(Extension extension) {
        RecipeSession on = follower.session();
        if (extension.done.isDone()) {
            return;
        }
        if (version.isEmpty()) {
            read(on, extension);
            return;
        }
        LeaseRecord next = record.extendedTo(extension.lease).writtenBy(writer);
        Elapsed sentAt = Elapsed.since(on.time());
        on.send(
                SetData.of(path, next.encoded()).withVersion(version.getAsInt()),
                stat -> onExtended(on, extension, next, stat, sentAt),
                cause -> onNotExtended(on, extension, cause));
    }

    private void read(RecipeSession on, Extension extension) {
        on.read(
                GetData.of(path).linearizable(),
                node -> {
                    Optional<LeaseRecord> known = LeaseRecord.parse(node.data());
                    if (known.isPresent()) {
                        record = known.get();
                        version = OptionalInt.of(node.stat().version());
                        begin(extension);
                    } else {
                        fail(
                                extension,
                                new IllegalStateException("Cannot extend " + path
                                        + ": another client has overwritten it. Release it, and acquire " + resource
                                        + " again"));
                    }
                },
                cause -> onNotExtended(on, extension, cause));
    }

    private void onExtended(RecipeSession on, Extension extension, LeaseRecord next, NodeStat stat, Elapsed sentAt) {
        record = next;
        version = OptionalInt.of(stat.version());
        if (isOver() || !deadline.extend(sentAt, next.lease())) {
            lose(LossReason.TIME_OVER);
            fail(extension, lostException());
            return;
        }
        token = new FencingToken(on.generation(), stat.czxid());
        extensions.remove(extension);
        armEnd();
        extension.done.complete(null);
    }

    private void onNotExtended(RecipeSession on, Extension extension, Throwable cause) {
        if (!follower.isCurrent(on) || Failures.isSessionOver(cause)) {
            return; // the next session goes on
        }
        if (Failures.isNoNode(cause)) {
            lose(LossReason.NODE_DELETED);
            fail(extension, lostException());
        } else if (cause instanceof OutcomeUnknownException || Failures.is(cause, RefusalReason.BAD_VERSION)) {
            version = OptionalInt.empty(); // ours, or that of another process with this id
            begin(extension);
        } else if (Failures.mayPass(cause)) {
            Retry.later(on, cause, () -> {
                if (follower.isCurrent(on)) {
                    begin(extension);
                } // else the next session has begun it
            });
        } else {
            fail(extension, cause);
        }
    }

    private void fail(Extension extension, Throwable cause) {
        extensions.remove(extension);
        extension.done.completeExceptionally(cause);
    }

    // So far a lease that goes on. From here on its end.

    private void armEnd() {
        end.cancel();
        RecipeSession on = follower.session();
        if (!isOver() && token.sequence() > 0) { // at once if its time is over by now
            end = on.time().schedule(deadline.remaining(), () -> follower.execute(this::onTime));
        }
    }

    private void onTime() {
        if (deadline.remaining().isZero()) {
            lose(LossReason.TIME_OVER);
        } else {
            armEnd();
        }
    }

    private boolean isOver() {
        return lost.isDone();
    }

    private void lose(LossReason reason) {
        if (!end(reason)) {
            return;
        }
        if (reason == LossReason.TIME_OVER) {
            // others need not wait for as long again; one whom this process has sent the id may have extended it
            LeaseRemoval.ifWrittenBy(coordinator, path, writer).whenComplete((removed, failure) -> gone.complete(null));
        } else {
            gone.complete(null);
        }
    }

    /** Whether it has not ended before. */
    private boolean end(LossReason reason) {
        if (isOver()) {
            return false;
        }
        end.cancel();
        RecipeSession on = follower.session();
        if (token.sequence() > 0) { // else it was not resumed
            GrantLoss.log(getClass(), on, "the grant of " + resource + " (" + path.name() + ")", reason);
        }
        lost.complete(reason);
        if (reason != LossReason.COORDINATOR_CLOSED) {
            on.unwatch(path, watcher);
            follower.end();
        }
        List.copyOf(extensions).forEach(extension -> fail(extension, lostException()));
        return true;
    }

    private GrantLostException lostException() {
        LossReason reason = lossReason().orElse(LossReason.TIME_OVER);
        return new GrantLostException(
                reason, resource, path + " is no longer held: " + reason + ". Acquire " + resource + " again");
    }

    @Override
    public void onClosed() {
        end(LossReason.COORDINATOR_CLOSED);
        gone.complete(null);
    }

    @Override
    public CompletionStage<Void> leave(ConclaveException why) {
        follower.execute(() -> {
            boolean timeIsOver = deadline.remaining().isZero();
            if (timeIsOver) {
                lose(LossReason.TIME_OVER);
            } else if (end(LossReason.RELEASED)) {
                LeaseRemoval.of(coordinator, path).whenComplete((removed, failure) -> gone.complete(null));
            }
        });
        return gone;
    }

    // What others may ask, on any thread.

    NodePath path() {
        return path;
    }

    FencingToken token() {
        return token;
    }

    int permits() {
        return record.permits();
    }

    Duration lease() {
        return record.lease();
    }

    @Override
    public RecipeSession session() {
        return follower.session();
    }

    @Override
    public Optional<LossReason> lossReason() {
        LossReason told = lost.getNow(null);
        if (told != null) {
            return Optional.of(told);
        }
        return deadline.remaining().isZero() ? Optional.of(LossReason.TIME_OVER) : Optional.empty();
    }

    @Override
    public Duration remaining() {
        return isOver() ? Duration.ZERO : deadline.remaining();
    }

    @Override
    public boolean deadlineIsStrict() {
        return true; // no server judges it
    }

    @Override
    public void giveUpWaiting(ConclaveException why) {} // it was granted

    @Override
    public String what() {
        return resource;
    }

    @Override
    public String toString() {
        return "LeaseHold[" + path + ", "
                + lossReason().map(LossReason::toString).orElse("held") + "]";
    }
}
