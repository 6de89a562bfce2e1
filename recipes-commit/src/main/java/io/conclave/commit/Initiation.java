package io.conclave.commit;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.ParentMaker;
import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.coordinator.Waiting;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.SessionGoneException;
import io.conclave.line.OwnName;
import io.conclave.line.Tenant;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.spi.Create;
import io.conclave.spi.GetData;
import io.conclave.spi.Multi;
import io.conclave.spi.Operation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinating side of one transaction, through all sessions of its coordinator: begins it, waits for its decision, and deletes it when all sites have finished.
 *
 * <p>All of it is begun in one transaction of the backend: its znode, one for each site's vote, and an entry in each site's inbox; so no site is forgotten. State belongs to the dispatcher of the session of the time.
 */
final class Initiation extends SessionFollower implements Tenant {
    private static final Logger LOG = LoggerFactory.getLogger(Initiation.class);

    private final TransactionLayout layout;
    private final TransactionRecord record;
    private final long beganNanos;
    private final CompletableFuture<Decision> decided = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private @Nullable Deciding deciding;
    private boolean isBegun;
    private boolean isAbandoned;

    Initiation(Coordinator coordinator, TransactionLayout layout, TransactionRecord record) {
        super(coordinator);
        this.layout = layout;
        this.record = record;
        this.beganNanos = session().time().monotonicNanos();
    }

    @Override
    void onSession(RecipeSession next) {
        if (decided.isDone() && !isAbandoned) {
            cleanUp(next);
        } else if (isBegun) {
            decide(next);
        } else {
            begin(next);
        }
    }

    @Override
    void onSessionEnded() {
        Deciding last = deciding;
        if (last != null) {
            last.stop();
        }
    }

    @Override
    void onClosed() {
        fail(new ClosedException("The coordinator was closed before " + layout.path() + " was decided"));
    }

    private void begin(RecipeSession on) {
        if (isAbandoned) {
            // What was sent may have begun it even so; then it is to be aborted, or else there is nothing.
            readWhose(on, new ClosedException("Abandoned: " + this));
            return;
        }
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(Create.of(layout.path()).withData(record.toBytes()));
        operations.add(Create.of(layout.coordinator())
                .withData(OwnName.get().getBytes(StandardCharsets.UTF_8))
                .withMode(CreateMode.EPHEMERAL));
        for (String site : record.sites()) {
            operations.add(Create.of(layout.vote(site)));
            operations.add(Create.of(layout.entry(site)));
        }
        on.send(new Multi(operations), results -> begun(on), cause -> onNotBegun(on, cause));
    }

    private void onNotBegun(RecipeSession on, Throwable cause) {
        if (Refusals.isNoNode(cause)) {
            makeParents(on, 0);
        } else if (Refusals.is(cause, RefusalReason.NODE_EXISTS)) {
            readWhose(on, cause);
        } else {
            onFailure(cause, () -> begin(on));
        }
    }

    private void makeParents(RecipeSession on, int index) {
        List<NodePath> parents = new ArrayList<>(List.of(TransactionLayout.transactions(layout.base())));
        record.sites().forEach(site -> parents.add(TransactionLayout.inbox(layout.base(), site)));
        if (index == parents.size()) {
            begin(on);
            return;
        }
        ParentMaker.makePersistent(on, parents.get(index))
                .whenComplete((made, failure) -> on.execute(() -> {
                    if (failure == null) {
                        makeParents(on, index + 1);
                    } else {
                        onFailure(Waiting.cause(failure), () -> begin(on));
                    }
                }));
    }

    /** There is one of this id: ours, whose reply was lost, or somebody else's. */
    private void readWhose(RecipeSession on, Throwable refusal) {
        on.send(
                GetData.of(layout.path()),
                node -> {
                    Optional<TransactionRecord> there = TransactionRecord.parse(node.data());
                    if (there.filter(one -> one.guid().equals(record.guid())).isPresent()) {
                        begun(on);
                    } else {
                        fail(refusal);
                    }
                },
                cause -> {
                    if (Refusals.isNoNode(cause)) {
                        fail(refusal);
                    } else {
                        onFailure(cause, () -> readWhose(on, refusal));
                    }
                });
    }

    private void begun(RecipeSession on) {
        isBegun = true;
        LOG.debug("{}: begun", this);
        decide(on);
    }

    private void decide(RecipeSession on) {
        Duration spent = Duration.ofNanos(on.time().monotonicNanos() - beganNanos);
        Deciding next = new Deciding(on, layout, record.sites(), decision -> onDecided(on, decision), this::fail);
        deciding = next;
        next.begin(true, record.voteTimeout().minus(spent));
        if (isAbandoned) {
            next.abort("given up by who began it");
        }
    }

    private void onDecided(RecipeSession on, Decision decision) {
        on.metrics()
                .duration(
                        "commit.decide",
                        layout.path().toString(),
                        Duration.ofNanos(on.time().monotonicNanos() - beganNanos));
        isAbandoned = false; // it is known now, whoever wanted to
        decided.complete(decision);
        gone.complete(null);
        cleanUp(on);
    }

    private void cleanUp(RecipeSession on) {
        new Cleanup(on, layout, true, this::end).begin();
    }

    private void onFailure(Throwable cause, Runnable again) {
        if (cause instanceof SessionGoneException || cause instanceof ClosedException) {
            return; // the session's state tells what follows
        }
        if (cause instanceof OutcomeUnknownException) {
            session().metrics().count("commit.retry", layout.path().toString());
            again.run();
        } else {
            fail(cause);
        }
    }

    private void fail(Throwable cause) {
        end();
        decided.completeExceptionally(cause);
        gone.complete(null);
    }

    @Override
    public CompletionStage<Decision> granted() {
        return decided;
    }

    /** What was decided; once it is granted. */
    Decision decision() {
        return decided.join();
    }

    @Override
    public CompletionStage<LossReason> lost() {
        return new CompletableFuture<>();
    }

    @Override
    public CompletionStage<Void> revocationRequested() {
        return new CompletableFuture<>();
    }

    @Override
    public CompletionStage<Void> gone() {
        return gone;
    }

    @Override
    public Duration remaining() {
        return Duration.ZERO;
    }

    @Override
    public boolean deadlineIsStrict() {
        return session().deadlineIsStrict();
    }

    /** Nobody waits for the decision any more: it is to abort, if it is not made yet. */
    @Override
    public CompletionStage<Void> leave(ConclaveException why) {
        execute(() -> {
            if (!decided.isDone()) {
                isAbandoned = true;
                decided.completeExceptionally(why);
                Deciding current = deciding;
                if (current != null) {
                    current.abort("given up by who began it");
                }
            }
        });
        return gone;
    }

    @Override
    public void giveUpWaiting(ConclaveException why) {
        leave(why);
    }

    @Override
    public String toString() {
        return "Initiation[" + layout.path() + " at " + record.sites() + "]";
    }
}
