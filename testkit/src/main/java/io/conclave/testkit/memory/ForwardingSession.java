package io.conclave.testkit.memory;

import io.conclave.error.ConclaveException;
import io.conclave.request.Request;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendSession;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** Forwards everything to a sound session. A test changes what it means to, and plants it: {@link Faults#plant}. */
public class ForwardingSession implements BackendSession {
    /** The session behind it. */
    protected final BackendSession sound;

    /** Around this session. */
    protected ForwardingSession(BackendSession sound) {
        this.sound = sound;
    }

    /** A failure instead of an answer, on the dispatcher as all answers are. */
    protected final <R> CompletableFuture<R> failed(ConclaveException failure) {
        CompletableFuture<R> answer = new CompletableFuture<>();
        dispatcher().execute(() -> answer.completeExceptionally(failure));
        return answer;
    }

    @Override
    public long id() {
        return sound.id();
    }

    @Override
    public SessionState state() {
        return sound.state();
    }

    @Override
    public <R> CompletionStage<R> submit(Request<R> request) {
        return sound.submit(request);
    }

    @Override
    public Executor dispatcher() {
        return sound.dispatcher();
    }

    @Override
    public long connectionNumber() {
        return sound.connectionNumber();
    }

    @Override
    public Duration remaining() {
        return sound.remaining();
    }

    @Override
    public boolean deadlineIsStrict() {
        return sound.deadlineIsStrict();
    }

    @Override
    public OptionalLong generation() {
        return sound.generation();
    }

    @Override
    public Optional<Throwable> connectFailure() {
        return sound.connectFailure();
    }

    @Override
    public CompletionStage<Void> closeAsync() {
        return sound.closeAsync();
    }
}
