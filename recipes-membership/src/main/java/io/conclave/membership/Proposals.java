package io.conclave.membership;

import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import java.time.Duration;
import java.util.List;
import java.util.SortedSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the assignment when the group has settled, if this member is the first of it.
 *
 * <p>It is written over the version that it was made from, so of two that write at the same time one begins anew, with
 * the group and the assignment as they are then; so does one whose reply was lost. State belongs to the share's queue.
 */
final class Proposals {
    private static final Logger LOG = LoggerFactory.getLogger(Proposals.class);

    private final Group<String> group;
    private final String id;
    private final NodePath path;
    private final SortedSet<String> partitions;
    private final Duration quietPeriod;
    private final HeldShare share;
    private final Supplier<Assignment> lastKnown;
    private boolean isUnderWay;
    private boolean isAskedAgain;
    private volatile boolean isOver;
    private CompletableFuture<List<Member<String>>> settling = new CompletableFuture<>();

    Proposals(HeldShare share, Group<String> group, Partitioner of, Supplier<Assignment> lastKnown) {
        this.share = share;
        this.group = group;
        this.id = share.id();
        this.path = of.assignmentPath();
        this.partitions = of.partitions();
        this.quietPeriod = of.quietPeriod();
        this.lastKnown = lastKnown;
    }

    /** The group or the assignment has changed. */
    void begin() {
        if (isOver) {
            return;
        }
        if (isUnderWay) {
            isAskedAgain = true;
            return;
        }
        isUnderWay = true;
        settling = group.settled(quietPeriod);
        settling.whenComplete((members, failure) -> share.execute(() -> {
            if (failure != null) {
                onFailure(Waiting.cause(failure));
            } else if (!share.isMember()
                    || members.isEmpty()
                    || !members.get(0).id().equals(id)) {
                end(isAskedAgain); // it is for the first one to do, which may be another process of this id
            } else {
                propose(members.stream().map(Member::id).toList());
            }
        }));
    }

    private void end(boolean again) {
        isUnderWay = false;
        isAskedAgain = false;
        if (again) {
            begin();
        }
    }

    private void onFailure(Throwable cause) {
        if (isOver || cause instanceof ClosedException) {
            isUnderWay = false;
        } else if (Failures.isStale(cause)
                || Failures.isSessionOver(cause)
                || cause instanceof OutcomeUnknownException) {
            end(true);
        } else {
            LOG.warn("{}: cannot write the assignment, trying on: {}", share, cause.getMessage());
            share.session().time().schedule(Retry.delay(cause), () -> share.execute(() -> end(true)));
        }
    }

    private void propose(List<String> members) {
        RecipeSession session = share.session();
        session.execute(
                () -> session.readLatest(path, GetData.of(path), node -> write(session, members, node), cause -> {
                    if (Failures.isNoNode(cause) && !isOver) {
                        create(session, members);
                    } else {
                        share.execute(() -> onFailure(cause));
                    }
                }));
    }

    private void write(RecipeSession session, List<String> members, GetData.NodeData present) {
        if (isOver) {
            return; // this member has left meanwhile
        }
        Assignment before = Assignment.parse(present.bytes().text()).orElseGet(lastKnown);
        if (Assignment.parse(present.bytes().text()).isPresent() && before.isFor(members, partitions)) {
            share.execute(() -> end(isAskedAgain));
            return;
        }
        Assignment next = before.next(members, partitions);
        LOG.info(
                "{}: {} of {} partitions move, among {} members",
                path,
                next.movedSince(before),
                partitions.size(),
                members.size());
        session.metrics().count("membership.assigned", path.toString());
        session.send(
                SetData.of(path, next.toBytes()).withVersion(present.stat().version()),
                stat -> share.execute(() -> end(isAskedAgain)),
                cause -> share.execute(() -> onFailure(cause)));
    }

    private void create(RecipeSession session, List<String> members) {
        session.metrics().count("membership.assigned", path.toString());
        session.send(
                Create.of(path)
                        .withData(lastKnown.get().next(members, partitions).toBytes()),
                created -> share.execute(() -> end(isAskedAgain)),
                cause -> share.execute(() -> onFailure(cause)));
    }

    /** Nothing more is to be written. */
    void close() {
        isOver = true;
        settling.cancel(false);
    }
}
