package io.conclave.testkit.memory;

import io.conclave.request.Request;
import io.conclave.spi.Elapsed;
import java.util.concurrent.CompletableFuture;

/** A request that was submitted and has no answer yet. */
final class PendingRequest<R> {
    final Request<R> request;
    final Elapsed submitted;
    final boolean isLinearizable;
    final CompletableFuture<R> answer = new CompletableFuture<>();

    /** @param isLinearizable whether it must not be answered by a server that lags */
    PendingRequest(Request<R> request, Elapsed submitted, boolean isLinearizable) {
        this.request = request;
        this.submitted = submitted;
        this.isLinearizable = isLinearizable;
    }
}
