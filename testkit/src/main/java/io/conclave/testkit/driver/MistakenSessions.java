package io.conclave.testkit.driver;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.recipe.Waiting;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Done;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.LinearizableRead;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.request.Watcher;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.memory.ForwardingSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/** The sessions that a {@link Mistake} puts around sound ones. */
final class MistakenSessions {
    private MistakenSessions() {}

    /** Has always time left. */
    static final class Timeless extends ForwardingSession {
        private static final Duration LONG = Duration.ofSeconds(10);

        Timeless(BackendSession sound) {
            super(sound);
        }

        @Override
        public Duration remaining() {
            return LONG;
        }
    }

    /** Does not tell its watchers of some events. */
    static final class Deaf extends ForwardingSession {
        private final NodeEvent.Type unheard;
        private final Pattern path;
        private final Map<Watcher, Watcher> deaf = new ConcurrentHashMap<>(); // setting one again is no second watch

        Deaf(BackendSession sound, NodeEvent.Type unheard, String path) {
            super(sound);
            this.unheard = unheard;
            this.path = Pattern.compile(path);
        }

        @Override
        public <R> CompletionStage<R> submit(Request<R> request) {
            return sound.submit(deaf(request));
        }

        @SuppressWarnings("unchecked") // the same kind of request
        private <R> Request<R> deaf(Request<R> request) {
            if (request instanceof LinearizableRead<R> read) {
                return new LinearizableRead<>(deaf(read.read()), read.path());
            }
            if (request instanceof GetData get && get.watcher().isPresent() && isMeant(get.path())) {
                return (Request<R>) get.withWatcher(deaf(get.watcher().get()));
            }
            if (request instanceof Exists exists && exists.watcher().isPresent() && isMeant(exists.path())) {
                return (Request<R>) exists.withWatcher(deaf(exists.watcher().get()));
            }
            if (request instanceof GetChildren list && list.watcher().isPresent() && isMeant(list.path())) {
                return (Request<R>) list.withWatcher(deaf(list.watcher().get()));
            }
            return request;
        }

        private boolean isMeant(NodePath node) {
            return path.matcher(node.toString()).matches();
        }

        private Watcher deaf(Watcher watcher) {
            return deaf.computeIfAbsent(watcher, hearing -> event -> {
                if (event.type() != unheard) {
                    hearing.onEvent(event);
                }
            });
        }
    }

    /** Does something else than to tell of lost replies. */
    static final class Hasty extends ForwardingSession {
        private final Pattern request;
        private final Mistake.AfterLostReply answer;

        Hasty(BackendSession sound, String request, Mistake.AfterLostReply answer) {
            super(sound);
            this.request = Pattern.compile(request);
            this.answer = answer;
        }

        @Override
        public <R> CompletionStage<R> submit(Request<R> sent) {
            CompletionStage<R> stage = sound.submit(sent);
            return request.matcher(sent.describe()).matches()
                    ? stage.exceptionallyCompose(failure -> onFailure(sent, Waiting.cause(failure)))
                    : stage;
        }

        private <R> CompletionStage<R> onFailure(Request<R> sent, Throwable cause) {
            return cause instanceof OutcomeUnknownException
                    ? answer.answer(sound, sent)
                    : CompletableFuture.failedFuture(cause);
        }
    }

    /** Refuses, for one reason. */
    record Refusing(RefusalReason reason) implements Mistake.AfterLostReply {
        @Override
        public <R> CompletionStage<R> answer(BackendSession session, Request<R> request) {
            return CompletableFuture.failedFuture(new RefusedException(reason, request.describe()));
        }
    }

    /** Sends a transaction again, without some operations. */
    record AgainWithout(String operation) implements Mistake.AfterLostReply {
        @Override
        public <R> CompletionStage<R> answer(BackendSession session, Request<R> request) {
            return again(session, changed(request, without(operation)));
        }
    }

    /** Sends some writes in another form. */
    static final class Careless extends ForwardingSession {
        private final Pattern write;
        private final UnaryOperator<Operation<?>> change;

        Careless(BackendSession sound, String write, UnaryOperator<Operation<?>> change) {
            super(sound);
            this.write = Pattern.compile(write);
            this.change = change;
        }

        @Override
        public <R> CompletionStage<R> submit(Request<R> request) {
            boolean isMeant = write.matcher(request.describe()).matches();
            return sound.submit(isMeant ? changed(request, change) : request);
        }
    }

    /** Sends the creations of some transactions one after the other, and what comes behind when all are answered. */
    static final class OneByOne extends ForwardingSession {
        private final Pattern transaction;
        private CompletionStage<?> sent = CompletableFuture.completedFuture(null); // for the dispatcher only

        OneByOne(BackendSession sound, String transaction) {
            super(sound);
            this.transaction = Pattern.compile(transaction);
        }

        @Override
        @SuppressWarnings("unchecked") // what a transaction answers
        public <R> CompletionStage<R> submit(Request<R> request) {
            if (request instanceof Multi multi
                    && transaction.matcher(request.describe()).matches()) {
                CompletionStage<List<Multi.Result>> all = sent.thenCompose(before -> createEach(multi));
                sent = all.handle((results, failure) -> null);
                return (CompletionStage<R>) all;
            }
            CompletableFuture<R> answer = new CompletableFuture<>();
            sent = sent.thenRun(() -> sound.submit(request).whenComplete((result, failure) -> {
                if (failure == null) {
                    answer.complete(result);
                } else {
                    answer.completeExceptionally(failure);
                }
            }));
            return answer;
        }

        private CompletionStage<List<Multi.Result>> createEach(Multi multi) {
            CompletionStage<List<Multi.Result>> all = CompletableFuture.completedFuture(List.of());
            for (Operation<?> operation : multi.operations()) {
                all = all.thenCompose(before -> sound.submit((Create) operation).thenApply(created -> {
                    List<Multi.Result> results = new ArrayList<>(before);
                    results.add(new Multi.Result(Optional.of(created.path()), Optional.of(created.stat())));
                    return results;
                }));
            }
            return all;
        }
    }

    @SuppressWarnings("unchecked") // the same kind of request
    private static <R> Request<R> changed(Request<R> request, UnaryOperator<Operation<?>> change) {
        if (request instanceof Multi multi) {
            return (Request<R>) new Multi(
                    multi.operations().stream().<Operation<?>>map(change).toList());
        }
        return request instanceof Operation<?> single ? (Request<R>) change.apply(single) : request;
    }

    static Operation<?> withoutVersion(Operation<?> operation) {
        if (operation instanceof SetData set) {
            return set.withVersion(-1);
        }
        if (operation instanceof Delete delete) {
            return delete.withVersion(-1);
        }
        return operation instanceof Check check ? Check.exists(check.path()) : operation;
    }

    static UnaryOperator<Operation<?>> without(String operation) {
        Pattern pattern = Pattern.compile(operation);
        return one -> pattern.matcher(one.describe()).matches() ? Check.exists(NodePath.ROOT) : one;
    }

    static <R> CompletionStage<R> nothing(BackendSession session, Request<R> request) {
        return new CompletableFuture<>();
    }

    static <R> CompletionStage<R> again(BackendSession session, Request<R> request) {
        return session.submit(changed(request, MistakenSessions::withoutVersion));
    }

    @SuppressWarnings("unchecked") // what these answer
    static <R> CompletionStage<R> done(BackendSession session, Request<R> request) {
        if (request instanceof Delete) {
            return CompletableFuture.completedFuture((R) Done.DONE);
        }
        if (request instanceof Multi multi) {
            return CompletableFuture.completedFuture(
                    (R) Collections.nCopies(multi.operations().size(), Multi.Result.NONE));
        }
        throw new IllegalArgumentException("Invalid request \"" + request.describe()
                + "\" to be taken for done: it must be a deletion or a transaction, whose answers say nothing more");
    }
}
