package io.conclave.spring.boot;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.DisposableBean;

/** A bean that calls another one while it is destroyed. */
final class LastCall implements DisposableBean {
    final CompletableFuture<Object> answer = new CompletableFuture<>();
    private final Callable<?> call;

    LastCall(Callable<?> call) {
        this.call = call;
    }

    @Override
    public void destroy() {
        try {
            answer.complete(call.call());
        } catch (Exception e) {
            answer.completeExceptionally(e);
        }
    }
}
