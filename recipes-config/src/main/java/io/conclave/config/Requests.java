package io.conclave.config;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.request.Sync;
import io.conclave.spi.SerialExecutor;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

/** Requests one after the other, on one coordinator, as stages; they complete on the session's dispatcher. */
final class Requests {
    private final Coordinator coordinator;
    private final Optional<RecipeSession> pinned;

    Requests(Coordinator coordinator) {
        this(coordinator, Optional.empty());
    }

    private Requests(Coordinator coordinator, Optional<RecipeSession> pinned) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.pinned = pinned;
    }

    /** Requests that all go to the coordinator's present session, and fail when it is lost. */
    Requests onPresentSession() {
        return new Requests(coordinator, Optional.of(session()));
    }

    RecipeSession session() {
        return pinned.orElseGet(() -> RecipeAccess.session(coordinator));
    }

    /** Submits; a failure is unwrapped and turned into what the function says. */
    <R, T> CompletionStage<T> submit(
            Request<R> request,
            Function<? super R, ? extends CompletionStage<T>> onAnswer,
            Function<? super Throwable, ? extends CompletionStage<T>> onFailure) {
        return session()
                .submit(request)
                .handle((answer, failure) ->
                        failure == null ? onAnswer.apply(answer) : onFailure.apply(Waiting.cause(failure)))
                .thenCompose(Function.identity());
    }

    /** Sends a request that changes nothing; again, if its reply is lost. */
    <R> CompletionStage<R> sendAgainIfLost(Request<R> request) {
        return submit(
                request,
                CompletableFuture::completedFuture,
                cause -> cause instanceof OutcomeUnknownException
                        ? sendAgainIfLost(request)
                        : CompletableFuture.failedFuture(cause));
    }

    /** Reads the znode; empty if it is not there. A lost reply has it read again. */
    CompletionStage<Optional<GetData.NodeData>> read(NodePath path) {
        return Waiting.ifThere(sendAgainIfLost(GetData.of(path)));
    }

    /**
     * As the application asks for it: linearizably if its coordinator is set to that, and again by the application's
     * policy.
     */
    CompletionStage<Optional<GetData.NodeData>> readForApplication(NodePath path) {
        return Waiting.ifThere(RecipeAccess.read(coordinator, GetData.of(path)));
    }

    /** As {@link #read}, behind a sync: what is read is no older than anything that we have sent. */
    CompletionStage<Optional<GetData.NodeData>> readLatest(NodePath path) {
        return sendAgainIfLost(Sync.of(path)).thenCompose(done -> read(path));
    }

    /** As {@link #readLatest}, after a write of the znode whose reply was lost. */
    CompletionStage<Optional<GetData.NodeData>> findOut(NodePath path, OutcomeUnknownException unknown) {
        return readLatest(path)
                .exceptionallyCompose(
                        failure -> lookAgain(unknown, Waiting.cause(failure), () -> findOut(path, unknown)));
    }

    /** After a failed look for the outcome of a write: looks again, if that may tell more. */
    <T> CompletionStage<T> lookAgain(
            OutcomeUnknownException unknown, Throwable cause, Supplier<? extends CompletionStage<T>> look) {
        CompletableFuture<T> found = new CompletableFuture<>();
        Retry.lookAgain(
                session(),
                String.valueOf(unknown.getMessage()),
                unknown,
                cause,
                () -> Waiting.forward(look.get(), found),
                found::completeExceptionally);
        return found;
    }

    /** Makes the parents of a znode. */
    CompletionStage<Void> makeParents(NodePath path) {
        return ParentMaker.makePersistent(session(), path.parent().orElse(NodePath.ROOT));
    }

    /** The application's own stage, which completes on a listener thread. */
    <T> CompletableFuture<T> onListenerThread(String what, CompletionStage<T> stage) {
        return session().onListenerThread(what, stage);
    }

    /** The listeners' threads, one task at a time. */
    SerialExecutor listenerThreads(String what) {
        return session().listenerThreads(what);
    }

    /** The blocking form of a call; an interrupt cancels the call. */
    <T> T await(CompletableFuture<T> call) throws InterruptedException {
        try {
            return Waiting.await(session(), call);
        } catch (InterruptedException e) {
            call.cancel(false);
            throw e;
        }
    }
}
