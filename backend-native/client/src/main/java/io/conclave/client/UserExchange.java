package io.conclave.client;

import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.request.AddWatch;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.request.Watcher;
import io.conclave.spi.Elapsed;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A request of the user; run on the dispatcher, it completes the user's stage. */
class UserExchange<R> extends Exchange implements Runnable {
    private final SessionParts session;
    private final Request<R> request;
    private final CompletableFuture<R> stage = new CompletableFuture<>();
    private @Nullable Elapsed sent; // of a write, whose answer proves that the session lives
    private @Nullable OpCode opCode;
    private @Nullable R answer;
    private @Nullable ConclaveException failure;
    private boolean accepted; // written before it is queued, then on the dispatcher

    /** A watch that a request sets. */
    record Registration(WatchRegistry.Kind kind, NodePath path, Watcher watcher) {}

    /** A request that waits to be sent. */
    UserExchange(SessionParts session, Request<R> request) {
        this.session = session;
        this.request = request;
    }

    CompletableFuture<R> stage() {
        return stage;
    }

    @Override
    String describe() {
        return request.describe();
    }

    /** Whether it is taken into a full queue as well. */
    boolean isTakenBeyondTheBound() {
        return request instanceof RemoveWatch;
    }

    @Override
    Optional<RequestBody> body() {
        sent = request.isRead() ? null : session.clock().mark();
        try {
            RequestBody body = session.codec().encode(session.watches().asSent(request));
            opCode = body.opCode();
            return Optional.of(body);
        } catch (RefusedException refusal) {
            failure = refusal;
            return Optional.empty();
        }
    }

    @Override
    void tooLarge(long bytes) {
        notWatched();
        failure = new RefusedException(RefusalReason.BAD_ARGUMENTS, RequestCodec.tooLarge(request, bytes));
    }

    @Override
    void answered(ReplyHeader header, JuteReader in) {
        int err = header.err();
        if (err == ErrorCode.OK.code() && opCode != null) {
            ReplyBody body = ReplyBody.decode(opCode, in);
            try {
                R result = RequestCodec.decode(request, body);
                // Not before: a multi that is refused says so in its body, and may have been refused without the
                // leader.
                if (sent != null) {
                    session.clock().proven(sent);
                }
                complete(result);
            } catch (ConclaveException refused) {
                notWatched();
                failed(refused);
            } catch (IllegalArgumentException e) {
                failed(brokenRule(e));
            }
        } else if (err == ErrorCode.NO_NODE.code() && request instanceof Exists) {
            complete(absent());
        } else {
            notWatched();
            failed(ServerErrors.failure(describe(), err));
            session.errors().onError(err, describe());
        }
    }

    /** The server has answered without an error, so a write may have been done. */
    private ConclaveException brokenRule(IllegalArgumentException rule) {
        String message = describe() + ": the answer breaks a rule: " + rule.getMessage();
        return request.isRead()
                ? new RefusedException(RefusalReason.OTHER, message)
                : new OutcomeUnknownException(message);
    }

    /**
     * If this asked for a persistent watch, the server has not set it: reads that relied on it were sent without a
     * watch, and are sent again on a new connection.
     */
    private void notWatched() {
        if (request instanceof AddWatch add
                && session.watches().notSet(add, session.link().inFlight())) {
            session.link().shut(add.describe() + " was refused");
        }
    }

    @SuppressWarnings("unchecked")
    private R absent() {
        return (R) Optional.empty();
    }

    private void complete(R result) {
        registration(result).ifPresent(session.watches()::register);
        answer = result;
        session.deliveries().add(this);
    }

    /** The watch that the request sets if it succeeds, as far as known before the answer. */
    Optional<Registration> registration() {
        return registration(null);
    }

    /** Whether it may have been sent without its watch, because this one was sent before. */
    boolean dependsOn(AddWatch persistent) {
        return request != persistent
                && registration()
                        .filter(watch -> watch.path().equals(persistent.path()))
                        .isPresent();
    }

    private Optional<Registration> registration(@Nullable Object result) {
        if (request instanceof GetData get) {
            return get.watcher().map(watcher -> new Registration(WatchRegistry.Kind.DATA, get.path(), watcher));
        }
        if (request instanceof GetChildren get) {
            return get.watcher().map(watcher -> new Registration(WatchRegistry.Kind.CHILD, get.path(), watcher));
        }
        if (request instanceof Exists exists) {
            boolean absent = result instanceof Optional<?> stat && stat.isEmpty();
            WatchRegistry.Kind kind = absent ? WatchRegistry.Kind.EXIST : WatchRegistry.Kind.DATA;
            return exists.watcher().map(watcher -> new Registration(kind, exists.path(), watcher));
        }
        if (request instanceof AddWatch add) {
            WatchRegistry.Kind kind = add.recursive() ? WatchRegistry.Kind.RECURSIVE : WatchRegistry.Kind.PERSISTENT;
            return Optional.of(new Registration(kind, add.path(), add.watcher()));
        }
        return Optional.empty();
    }

    @Override
    void answeredHere() {
        session.deliveries().add(this);
    }

    @Override
    void refusedAhead(int err) {
        notWatched();
        failure = ServerErrors.failure(describe(), err);
        takesItsTurnHere();
    }

    /** A local answer that is not a failure. */
    final void answerHere(R result) {
        answer = result;
        session.deliveries().add(this);
    }

    @Override
    void failed(ConclaveException reason) {
        failure = reason;
        session.deliveries().add(this);
    }

    /** It counts as a request under way until it is completed. */
    final void accept() {
        accepted = true;
    }

    /** Ends before it was queued, from any thread. */
    final void fail(ConclaveException reason, Executor dispatcher) {
        failure = reason;
        dispatcher.execute(this);
    }

    /** Completes the stage, on the dispatcher. */
    @Override
    public void run() {
        if (accepted) {
            accepted = false;
            session.queue().completed();
        }
        ConclaveException reason = failure;
        if (reason != null) {
            stage.completeExceptionally(reason);
        } else {
            completeWith(answer);
        }
    }

    @SuppressWarnings("NullAway") // an exchange that did not fail has its answer
    private void completeWith(@Nullable R result) {
        stage.complete(result);
    }

    @Override
    public String toString() {
        return "completion of " + describe();
    }
}
