package io.conclave.locks;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Waiting;
import io.conclave.line.Contender;
import io.conclave.line.LineRole;
import io.conclave.spi.SerialExecutor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The grant of a writer. */
final class HeldForWriting extends HeldLock implements WriteGrant {
    private final LineRole reader;

    /**
     * The grant.
     *
     * @param reader as what it may go on
     */
    HeldForWriting(Contender contender, LineRole reader) {
        super(contender);
        this.reader = reader;
    }

    @Override
    public ReadGrant downgrade() throws InterruptedException {
        RecipeSession session = contender().session();
        CompletionStage<ReadGrant> reading = turnIntoReader();
        try {
            return Waiting.await(session, reading);
        } catch (InterruptedException | IllegalStateException e) { // nobody waits for it any more
            giveBack(reading);
            throw e;
        }
    }

    @Override
    public CompletableFuture<ReadGrant> downgradeAsync() {
        RecipeSession session = contender().session();
        CompletionStage<ReadGrant> reading = turnIntoReader();
        CompletableFuture<ReadGrant> stage = new CompletableFuture<>();
        SerialExecutor listeners =
                new SerialExecutor("downgrading " + this, session.listenerExecutor(), session.time());
        stage.whenComplete((grant, failure) -> {
            if (!reading.toCompletableFuture().isDone()) {
                giveBack(reading); // ended by the application
            }
        });
        reading.whenComplete((grant, failure) -> listeners.execute(() -> {
            if (failure != null) {
                stage.completeExceptionally(Waiting.cause(failure));
            } else if (!stage.complete(grant)) {
                grant.closeAsync();
            }
        }));
        return stage;
    }

    private CompletionStage<ReadGrant> turnIntoReader() {
        return goOnAs(reader).thenApply(HeldForReading::new);
    }

    /** Whatever it is by now. */
    private void giveBack(CompletionStage<ReadGrant> reading) {
        closeAsync();
        reading.thenAccept(ReadGrant::closeAsync);
    }
}
