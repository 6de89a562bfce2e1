package io.conclave.client;

import io.conclave.request.Done;
import io.conclave.request.LinearizableRead;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.request.Sync;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendSession;
import io.conclave.spi.SerialExecutor;
import io.conclave.spi.SessionListener;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * A session with a server that speaks the ZooKeeper protocol, as its user sees it, from any thread.
 * {@link SessionMachine} does its work on the event loop.
 *
 * <p>The dispatcher's tasks run on the event loop, too: an answer then wakes the thread that waits for it, and no other
 * one. They never run inside of the machine's own work, but behind it.
 *
 * <p>A request beyond the bound of the queue is refused at once, out of order; all others are completed in order.
 *
 * <p>When the server rejects the credentials the session gives up: it is not connected again, every request is refused
 * with AUTH_FAILED, its listener is told, and the session ends by its timeout.
 */
final class WireSession implements BackendSession {
    private final SerialExecutor dispatcher;
    private final SessionMachine machine;
    private final SessionParts parts;

    WireSession(
            ClientTransport transport, BackendOptions options, LostSessions lostSessions, SessionListener listener) {
        EventLoop loop = transport.nextLoop();
        dispatcher = new SerialExecutor(
                "session dispatcher of " + transport,
                task -> executeOn(loop, options.callbackExecutor(), task),
                options.time());
        machine = new SessionMachine(transport, loop, options, listener, dispatcher, lostSessions);
        parts = machine.parts();
    }

    /** A task of a session that has outlived its loop runs on other threads: it may be a release or a loss signal. */
    private static void executeOn(EventLoop loop, Executor others, Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            others.execute(task);
        }
    }

    void open() {
        parts.loop().execute(machine::connect);
    }

    @Override
    public long id() {
        return parts.ticket().id();
    }

    @Override
    public SessionState state() {
        return parts.status().state();
    }

    @Override
    public Executor dispatcher() {
        return dispatcher;
    }

    @Override
    public long connectionNumber() {
        return parts.status().connectionNumber();
    }

    @Override
    public Duration remaining() {
        return parts.status().isLive() ? parts.clock().remaining() : Duration.ZERO;
    }

    /**
     * True on servers of ours. Apache ZooKeeper's leader hears of a session through its followers, and the wire does
     * not show whether there are any; so false there, and the user chooses a margin.
     */
    @Override
    public boolean deadlineIsStrict() {
        return machine.identity().ours();
    }

    @Override
    public Optional<Throwable> connectFailure() {
        return machine.connectFailure();
    }

    @Override
    public OptionalLong generation() {
        return machine.identity().generation();
    }

    @Override
    public <R> CompletionStage<R> submit(Request<R> request) {
        return request instanceof LinearizableRead<R> read ? submitLinearizable(read) : submitSingle(request);
    }

    /**
     * The two are sent in one write. If the connection is lost in between, the read still follows the sync: the next
     * server has at least the state of the sync's answer. If the sync was not answered, the read is not known to be
     * linearizable.
     */
    private <R> CompletionStage<R> submitLinearizable(LinearizableRead<R> read) {
        CompletionStage<Done> synced = submitSingle(Sync.of(read.path()));
        CompletableFuture<R> result = new CompletableFuture<>();
        submitSingle(read.read())
                .whenComplete((answer, failure) -> synced.whenComplete((done, notSynced) -> {
                    if (failure != null || notSynced != null) {
                        result.completeExceptionally(failure != null ? failure : notSynced);
                    } else {
                        result.complete(answer);
                    }
                }));
        return result;
    }

    private <R> CompletionStage<R> submitSingle(Request<R> request) {
        UserExchange<R> exchange = exchange(request);
        if (parts.queue().submit(exchange)) {
            parts.loop().execute(machine::drain);
        }
        return exchange.stage();
    }

    @SuppressWarnings("unchecked")
    private <R> UserExchange<R> exchange(Request<R> request) {
        return request instanceof RemoveWatch remove
                ? (UserExchange<R>) new RemoveWatchExchange(parts, remove)
                : new UserExchange<>(parts, request);
    }

    @Override
    public CompletionStage<Void> closeAsync() {
        if (parts.queue().close(new CloseExchange(err -> machine.end()))) {
            parts.loop().execute(machine::beginClose);
        }
        return parts.status().over();
    }

    /** Ends the session whatever the server says, soon. */
    void end() {
        parts.loop().execute(machine::end);
    }

    /** Calls back on the dispatcher when the session is lost or closed. */
    void whenOver(Runnable callback) {
        parts.status().over().thenRun(callback);
    }

    @Override
    public String toString() {
        return machine.toString();
    }
}
