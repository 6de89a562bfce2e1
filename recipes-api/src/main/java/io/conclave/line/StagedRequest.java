package io.conclave.line;

import io.conclave.error.LossReason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The stages of a request for a grant. The request completes them, each once, on its session's dispatcher. */
public abstract class StagedRequest implements GrantRequest {
    /** See {@link #granted()}. */
    protected final CompletableFuture<Void> granted = new CompletableFuture<>();

    /** See {@link #mustWait()}. */
    protected final CompletableFuture<Void> mustWait = new CompletableFuture<>();

    /** See {@link #lost()}. */
    protected final CompletableFuture<LossReason> lost = new CompletableFuture<>();

    /** See {@link #revocationRequested()}. */
    protected final CompletableFuture<Void> revocation = new CompletableFuture<>();

    /** See {@link #gone()}. */
    protected final CompletableFuture<Void> gone = new CompletableFuture<>();

    /** A request that waits. */
    protected StagedRequest() {}

    @Override
    public final CompletionStage<Void> granted() {
        return granted;
    }

    @Override
    public final CompletionStage<Void> mustWait() {
        return mustWait;
    }

    @Override
    public final CompletionStage<LossReason> lost() {
        return lost;
    }

    @Override
    public final CompletionStage<Void> revocationRequested() {
        return revocation;
    }

    @Override
    public final CompletionStage<Void> gone() {
        return gone;
    }
}
