package io.conclave.locks;

import io.conclave.error.ClosedException;
import io.conclave.line.Contender;
import io.conclave.line.LineRole;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.spi.SerialExecutor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The grant of a writer. */
final class HeldWriteLock extends HeldLock implements WriteGrant {
    private final LineRole reader;

    /**
     * The grant.
     *
     * @param reader as what it may go on
     */
    HeldWriteLock(Contender contender, LineRole reader) {
        super(contender);
        this.reader = reader;
    }

    @Override
    public ReadGrant downgrade() throws InterruptedException {
        RecipeSession session = contender().session();
        CompletionStage<ReadGrant> reading = turnIntoReader();
        try {
            ReadGrant grant = Waiting.await(session, reading);
            refuseIfReleased(grant);
            return grant;
        } catch (InterruptedException | IllegalStateException e) { // no caller waits for it any more
            giveBack(reading);
            throw e;
        }
    }

    @Override
    public CompletableFuture<ReadGrant> downgradeAsync() {
        RecipeSession session = contender().session();
        CompletionStage<ReadGrant> reading = turnIntoReader();
        CompletableFuture<ReadGrant> stage = new CompletableFuture<>();
        SerialExecutor listeners = session.listenerThreads("downgrading " + this);
        stage.whenComplete((grant, failure) -> {
            if (!reading.toCompletableFuture().isDone()) {
                giveBack(reading); // ended by the application
            }
        });
        reading.whenComplete((grant, failure) -> listeners.execute(() -> {
            if (failure == null) {
                handOver(grant, stage);
            } else if (!stage.completeExceptionally(Waiting.cause(failure))) {
                closeAsync(); // ended by the application when the backend had refused it, so this one is held as before
            }
        }));
        return stage;
    }

    private void handOver(ReadGrant grant, CompletableFuture<ReadGrant> stage) {
        try {
            refuseIfReleased(grant);
        } catch (ClosedException e) {
            stage.completeExceptionally(e);
        }
        if (!stage.complete(grant)) {
            grant.closeAsync();
        }
    }

    /** A caller that closed this grant meanwhile did not know yet that there is another one to close. */
    private void refuseIfReleased(ReadGrant grant) {
        if (isReleased()) {
            grant.closeAsync();
            throw new ClosedException("Released while it was downgraded: " + this);
        }
    }

    private CompletionStage<ReadGrant> turnIntoReader() {
        return goOnAs(reader).thenApply(HeldReadLock::new);
    }

    /** Whatever it is by now. */
    private void giveBack(CompletionStage<ReadGrant> reading) {
        closeAsync();
        reading.thenAccept(ReadGrant::closeAsync);
    }
}
