package io.conclave.config;

import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The additions to one counter that were called in one session. One write is under way at a time; what has been called
 * when it is sent goes with it, in the order of the calls, and each call gets a sum of its own. So the threads of a
 * process do not race each other.
 *
 * <p>They share the outcome of their write: if it is refused, or not known, each call fails for that reason. After a
 * lost race they go again, with what has come meanwhile. A call that was interrupted or cancelled before the write was
 * sent is left out. State belongs to the session's dispatcher.
 */
final class Additions {
    private final Requests requests;
    private final CounterNode node;
    private final Runnable onIdle;
    private final List<Addition> waiting = new ArrayList<>();
    private List<Addition> sent = List.of();

    /** One call. */
    private static final class Addition {
        private final long delta;
        private final CompletableFuture<Long> done = new CompletableFuture<>();
        private final CompletableFuture<Long> call;
        private long sum; // if the write that it goes with takes effect

        Addition(Requests requests, NodePath path, long delta) {
            this.delta = delta;
            this.call = requests.onListenerThread("add to " + path, done);
        }

        boolean isGivenUp() {
            return call.isDone();
        }

        void end(@Nullable Throwable failure) {
            if (failure == null) {
                done.complete(sum);
            } else {
                done.completeExceptionally(failure);
            }
        }
    }

    /** Those of a session that are under way, by counter. State belongs to its dispatcher. */
    private static final class UnderWay {
        private final Map<NodePath, Additions> byCounter = new HashMap<>();

        void add(Requests requests, NodePath path, Addition addition) {
            Additions present = byCounter.get(path);
            if (present != null) {
                present.waiting.add(addition);
            } else {
                Additions first = new Additions(requests, path, () -> byCounter.remove(path));
                byCounter.put(path, first);
                first.waiting.add(addition);
                first.write();
            }
        }
    }

    private Additions(Requests requests, NodePath path, Runnable onIdle) {
        this.requests = requests;
        this.node = new CounterNode(requests, path);
        this.onIdle = onIdle;
    }

    /** Adds, and answers with the sum. Never blocks; any thread. Completes on a listener thread. */
    static CompletableFuture<Long> add(Requests requests, NodePath path, long delta) {
        Requests pinned = requests.onPresentSession();
        RecipeSession session = pinned.session();
        Addition addition = new Addition(pinned, path, delta);
        session.execute(() -> session.keep(UnderWay.class, UnderWay::new).add(pinned, path, addition));
        return addition.call;
    }

    private void write() {
        Attempts.whileWanted(requests, this::isWanted, this::attempt).whenComplete((sum, failure) -> {
            if (sent.isEmpty()) {
                take(); // they were not sent: the number could not be read
            }
            List<Addition> ended = sent;
            sent = List.of();
            ended.forEach(one -> one.end(failure));
            if (waiting.isEmpty()) {
                onIdle.run();
            } else {
                write();
            }
        });
    }

    private boolean isWanted() {
        waiting.removeIf(Addition::isGivenUp);
        return !waiting.isEmpty();
    }

    private void take() {
        waiting.removeIf(Addition::isGivenUp);
        sent = List.copyOf(waiting);
        waiting.clear();
    }

    private CompletionStage<Optional<Long>> attempt() {
        return node.read().thenCompose(this::send);
    }

    private CompletionStage<Optional<Long>> send(CounterNode.State before) {
        take();
        long sum = before.value();
        for (Addition one : sent) {
            sum += one.delta;
            one.sum = sum;
        }
        if (sent.isEmpty()) {
            return CompletableFuture.completedFuture(Optional.of(sum)); // all have given up
        }
        Optional<Long> written = Optional.of(sum);
        return node.write(before, sum).thenApply(isWritten -> isWritten ? written : lostRace());
    }

    private Optional<Long> lostRace() {
        waiting.addAll(0, sent);
        sent = List.of();
        return Optional.empty();
    }
}
