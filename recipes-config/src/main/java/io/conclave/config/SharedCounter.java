package io.conclave.config;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A whole number that all share and add to; nothing is added twice and nothing is lost, also when replies are.
 *
 * <p>The znode's data is the number, eight bytes, most significant first, and behind it the marks of the last writes:
 * so after a lost reply the client finds out whether its write is among them. An addition costs a read and a
 * conditional write, and both again for each race that it loses; when many processes add at the same time, they wait at
 * random. What the threads of one coordinator add while a write is under way goes together with the next one, in the
 * order of the calls. A call that is interrupted, or whose future is cancelled, begins no further attempt.
 *
 * <p>While the connection is away, requests wait for the next one; if the session is lost they fail with
 * {@link io.conclave.error.SessionGoneException}: then what was under way has happened once or not at all. Immutable
 * and thread-safe.
 */
public final class SharedCounter {
    private final NodePath path;
    private final Requests requests;

    private SharedCounter(Coordinator coordinator, NodePath path) {
        this.path = path;
        this.requests = new Requests(coordinator);
    }

    /**
     * The counter at a path; 0 until the first addition.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static SharedCounter at(Coordinator coordinator, String path) {
        return at(coordinator, NodePath.of(path));
    }

    /** As {@link #at(Coordinator, String)}. */
    public static SharedCounter at(Coordinator coordinator, NodePath path) {
        RecipePaths.requireOwn(path, "a counter");
        return new SharedCounter(coordinator, path);
    }

    /** The number now. Blocks. */
    public long get() throws InterruptedException {
        return requests.await(getAsync());
    }

    /** As {@link #get()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Long> getAsync() {
        return requests.onListenerThread(
                "get " + path, requests.readForApplication(path).thenApply(node -> node.map(
                                data -> CounterRecord.parse(path, data.data()))
                        .orElse(CounterRecord.ZERO)
                        .value()));
    }

    /**
     * Adds and answers with the sum. Blocks.
     *
     * @param delta may be negative; the sum wraps around
     * @throws OutcomeUnknownException if the reply was lost and so many have added since that it is not known whether
     *     it took effect, or if the backend refuses to tell what is there
     * @throws InterruptedException if the thread is interrupted; the attempt under way may take effect anyway
     */
    public long add(long delta) throws InterruptedException {
        return requests.await(addAsync(delta));
    }

    /** As {@link #add}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Long> addAsync(long delta) {
        return Additions.add(requests, path, delta);
    }

    /** Adds one, and gives the new number. Blocks; see {@link #add}. */
    public long increment() throws InterruptedException {
        return add(1);
    }

    /** As {@link #increment}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Long> incrementAsync() {
        return addAsync(1);
    }

    /**
     * Sets the number if it is the expected one. Blocks.
     *
     * @return false if it is another one, then nothing has happened
     * @throws OutcomeUnknownException as {@link #add}
     */
    public boolean compareAndSet(long expected, long value) throws InterruptedException {
        return requests.await(compareAndSetAsync(expected, value));
    }

    /** As {@link #compareAndSet}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> compareAndSetAsync(long expected, long value) {
        return Attempts.start(requests, "compare and set " + path, () -> replace(expected, value));
    }

    /** Another number than the expected one counts when it was read behind a sync: the first server may lag. */
    private CompletionStage<Optional<Boolean>> replace(long expected, long value) {
        CounterNode node = new CounterNode(requests, path);
        return node.read()
                .thenCompose(state ->
                        state.value() == expected ? CompletableFuture.completedFuture(state) : node.readLatest())
                .thenCompose(state -> state.value() == expected
                        ? node.write(state, value).thenApply(written -> written ? Optional.of(true) : Optional.empty())
                        : CompletableFuture.completedFuture(Optional.of(false)));
    }

    /** The counter's znode, in the coordinator's namespace. */
    public NodePath path() {
        return path;
    }

    @Override
    public String toString() {
        return "SharedCounter[" + path + "]";
    }
}
