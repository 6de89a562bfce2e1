package io.conclave.config;

import io.conclave.cache.CachedNode;
import io.conclave.cache.MirrorChanges;
import io.conclave.cache.NodeChange;
import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipePaths;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.session.Registration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One value that all share: read, set, compare-and-set, observe.
 *
 * <pre>{@code
 * SharedValue<String> mode = SharedValue.at(coordinator, "/shared/mode", DataCodec.TEXT);
 * Versioned<String> read = mode.set("normal");
 * Optional<Versioned<String>> mine = mode.compareAndSet(read, "maintenance"); // empty if another client was quicker
 * }</pre>
 *
 * <p>The value is the data of the znode at the path, nothing else, so other libraries read and write it as well; a
 * znode without data, or none at all, holds no value. A compare-and-set costs one request.
 *
 * <p>While the connection is away, requests wait for the next one; if the session is lost they fail with
 * {@link io.conclave.error.SessionGoneException}, and the next ones use the next session. Immutable and thread-safe.
 *
 * @param <T> the type of the value
 */
public final class SharedValue<T> {
    private static final Logger LOG = LoggerFactory.getLogger(SharedValue.class);
    private static final byte[] NO_DATA = {};

    private final Coordinator coordinator;
    private final NodePath path;
    private final DataCodec<T> codec;
    private final Requests requests;

    private SharedValue(Coordinator coordinator, NodePath path, DataCodec<T> codec) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.path = path;
        this.codec = Objects.requireNonNull(codec, "codec");
        this.requests = new Requests(coordinator);
    }

    /**
     * The value at a path.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static <T> SharedValue<T> at(Coordinator coordinator, String path, DataCodec<T> codec) {
        return at(coordinator, NodePath.of(path), codec);
    }

    /**
     * The value at a path.
     *
     * @throws IllegalArgumentException if it is the root
     */
    public static <T> SharedValue<T> at(Coordinator coordinator, NodePath path, DataCodec<T> codec) {
        RecipePaths.requireOwn(path, "a value");
        return new SharedValue<>(coordinator, path, codec);
    }

    /**
     * The value now; empty if there is none. Blocks.
     *
     * @throws IllegalArgumentException if the codec does not understand it
     * @throws InterruptedException if the thread is interrupted
     */
    public Optional<Versioned<T>> get() throws InterruptedException {
        return requests.await(getAsync());
    }

    /** As {@link #get()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Optional<Versioned<T>>> getAsync() {
        return requests.onListenerThread(
                "get " + path, requests.readForApplication(path).thenApply(this::decode));
    }

    /**
     * Sets the value, over any other. Blocks.
     *
     * <p>It takes effect once at most. If the reply is lost, it is set again only if it surely had no effect.
     *
     * @throws OutcomeUnknownException if the reply was lost and others have written more than once since, or deleted
     *     the znode: so it was either set and replaced, or never set; or if the backend refuses to tell what is there.
     *     Read the value, and set it again if it should not be what it is
     * @throws InterruptedException if the thread is interrupted; it may take effect anyway
     */
    public Versioned<T> set(T value) throws InterruptedException {
        return requests.await(setAsync(value));
    }

    /** As {@link #set}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Versioned<T>> setAsync(T value) {
        byte[] data = encode(value);
        return requests.onListenerThread("set " + path, set(data).thenApply(stat -> Versioned.of(value, stat)));
    }

    /** The version is read first: after a lost reply it tells how many writes there were since. */
    private CompletionStage<NodeStat> set(byte[] data) {
        return requests.read(path)
                .thenCompose(found -> found.map(node -> set(data, node.stat())).orElseGet(() -> create(data)));
    }

    private CompletionStage<NodeStat> set(byte[] data, NodeStat before) {
        return requests.submit(SetData.of(path, data), CompletableFuture::completedFuture, cause -> {
            if (Failures.isNoNode(cause)) {
                return create(data);
            }
            return cause instanceof OutcomeUnknownException unknown
                    ? setAgain(data, before, unknown)
                    : CompletableFuture.failedFuture(cause);
        });
    }

    private CompletionStage<NodeStat> create(byte[] data) {
        // Any client's creation will do: if it holds this value it is as good as ours.
        ConditionalWrite.Proof proof = (node, writes) ->
                node.bytes().contentEquals(data) ? ConditionalWrite.Proof.Verdict.WRITTEN : notOurs(writes);
        return new ConditionalWrite(requests, path, data, ConditionalWrite.Expected.NOTHING, proof)
                .send()
                .thenCompose(stat -> stat.<CompletionStage<NodeStat>>map(CompletableFuture::completedFuture)
                        .orElseGet(() -> set(data)));
    }

    /**
     * What others have written is there: if it was the only write, ours had no effect; otherwise it may be one of those
     * before.
     */
    private static ConditionalWrite.Proof.Verdict notOurs(int writes) {
        return writes == 1 ? ConditionalWrite.Proof.Verdict.REFUSED : ConditionalWrite.Proof.Verdict.UNKNOWN;
    }

    private CompletionStage<NodeStat> setAgain(byte[] data, NodeStat before, OutcomeUnknownException unknown) {
        return requests.findOut(path, unknown).thenCompose(found -> {
            if (found.filter(node -> node.bytes().contentEquals(data)).isPresent()) {
                return CompletableFuture.completedFuture(found.orElseThrow().stat());
            }
            boolean isSame =
                    found.filter(node -> node.stat().czxid() == before.czxid()).isPresent();
            int writes = isSame ? found.orElseThrow().stat().version() - before.version() : Integer.MAX_VALUE;
            if (writes == 0 || writes == 1) {
                return set(data); // it had no effect: another client has written what there is
            }
            return CompletableFuture.failedFuture(new OutcomeUnknownException(
                    "Set " + path
                            + ": the reply was lost, and others have written since; the value may have been set and"
                            + " replaced. Read it, and set it again if it should not be what it is",
                    unknown));
        });
    }

    /**
     * Sets the value if it is still the expected one. Blocks.
     *
     * @return the new one; empty if it has been set since, then nothing has happened
     * @throws IllegalArgumentException if the expected version is -1, which stands for any
     * @throws OutcomeUnknownException if the reply was lost and what is there now does not tell whether it took effect
     * @throws InterruptedException if the thread is interrupted; it may take effect anyway
     */
    public Optional<Versioned<T>> compareAndSet(Versioned<T> expected, T value) throws InterruptedException {
        return requests.await(compareAndSetAsync(expected, value));
    }

    /** As {@link #compareAndSet}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Optional<Versioned<T>>> compareAndSetAsync(Versioned<T> expected, T value) {
        byte[] data = encode(value);
        return requests.onListenerThread("compare and set " + path, write(data, expected.asExpected(), value));
    }

    private CompletionStage<Optional<Versioned<T>>> write(byte[] data, ConditionalWrite.Expected expected, T value) {
        // The same bytes may be another client's: to take them for our own could win a race that another has won.
        ConditionalWrite.Proof proof =
                (node, writes) -> writes == 1 && !node.bytes().contentEquals(data)
                        ? ConditionalWrite.Proof.Verdict.REFUSED
                        : ConditionalWrite.Proof.Verdict.UNKNOWN;
        return new ConditionalWrite(requests, path, data, expected, proof)
                .send()
                .thenApply(stat -> stat.map(written -> Versioned.of(value, written)));
    }

    /**
     * Sets the value if there is none. Blocks.
     *
     * @return the new one; empty if there is one, then nothing has happened
     * @throws OutcomeUnknownException if the reply was lost and what is there now does not tell whether it took effect
     * @throws InterruptedException if the thread is interrupted; it may take effect anyway
     */
    public Optional<Versioned<T>> setIfAbsent(T value) throws InterruptedException {
        return requests.await(setIfAbsentAsync(value));
    }

    /** As {@link #setIfAbsent}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Optional<Versioned<T>>> setIfAbsentAsync(T value) {
        return requests.onListenerThread("set if absent " + path, setIfAbsent(encode(value), value));
    }

    private CompletionStage<Optional<Versioned<T>>> setIfAbsent(byte[] data, T value) {
        return write(data, ConditionalWrite.Expected.NOTHING, value)
                .thenCompose(made -> made.isPresent()
                        ? CompletableFuture.completedFuture(made)
                        : requests.readLatest(path).thenCompose(found -> fillIfEmpty(found, data, value)));
    }

    private CompletionStage<Optional<Versioned<T>>> fillIfEmpty(
            Optional<GetData.NodeData> found, byte[] data, T value) {
        if (found.isPresent() && found.get().bytes().isEmpty()) {
            return write(data, ConditionalWrite.Expected.of(found), value);
        }
        return CompletableFuture.completedFuture(Optional.empty());
    }

    /**
     * Replaces the value by what the function makes of it; if another client is quicker, the function is called again
     * with that client's value, as long as the caller waits: not after an interrupt, nor when the future of
     * {@link #updateAsync} is cancelled. Blocks.
     *
     * @param function is given the present value, empty if there is none; called on a listener thread, perhaps often,
     *     and must have no other effect
     * @throws OutcomeUnknownException if a reply was lost and what is there now does not tell whether it took effect
     * @throws InterruptedException if the thread is interrupted; it may take effect anyway
     */
    public Versioned<T> update(Function<? super Optional<T>, ? extends T> function) throws InterruptedException {
        return requests.await(updateAsync(function));
    }

    /** As {@link #update}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Versioned<T>> updateAsync(Function<? super Optional<T>, ? extends T> function) {
        Objects.requireNonNull(function, "function");
        return Attempts.start(requests, "update " + path, () -> updateOnce(function));
    }

    private CompletionStage<Optional<Versioned<T>>> updateOnce(Function<? super Optional<T>, ? extends T> function) {
        // Not on the thread on which the answer came, which may be the dispatcher, or that of the caller of the update.
        return requests.readForApplication(path)
                .thenComposeAsync(
                        found -> replace(decode(found), function), requests.listenerThreads("update " + path));
    }

    private CompletionStage<Optional<Versioned<T>>> replace(
            Optional<Versioned<T>> read, Function<? super Optional<T>, ? extends T> function) {
        T next = function.apply(read.map(Versioned::value));
        byte[] data = encode(next);
        return read.map(present -> write(data, present.asExpected(), next)).orElseGet(() -> setIfAbsent(data, next));
    }

    /**
     * Takes the value away: the znode stays, without data, so that versions never come again. Blocks.
     *
     * <p>If the reply is lost, and there is none afterwards, it counts as taken away by this call. A call takes one
     * value away at most.
     *
     * @return false if there was none, also because another client was quicker to remove it
     * @throws OutcomeUnknownException if the reply was lost, others have written more than once since, and there is a
     *     value again: it may be a later one; or if the backend refuses to tell what is there. Read it, and call again
     *     if it should go
     * @throws InterruptedException if the thread is interrupted; it may take effect anyway
     */
    public boolean remove() throws InterruptedException {
        return requests.await(removeAsync());
    }

    /** As {@link #remove}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> removeAsync() {
        return Attempts.start(requests, "remove " + path, this::removeOnce);
    }

    private CompletionStage<Optional<Boolean>> removeOnce() {
        ConditionalWrite.Proof proof =
                (node, writes) -> node.bytes().isEmpty() ? ConditionalWrite.Proof.Verdict.WRITTEN : notOurs(writes);
        return requests.readLatest(path).thenCompose(found -> {
            if (found.isEmpty() || found.get().bytes().isEmpty()) {
                return CompletableFuture.completedFuture(Optional.of(false));
            }
            return new ConditionalWrite(requests, path, NO_DATA, ConditionalWrite.Expected.of(found), proof)
                    .send()
                    .thenApply(written -> written.map(stat -> true));
        });
    }

    /**
     * Tells a listener of the value: the present one first, then every change; empty for none. The latest value always
     * comes, those in between may be skipped. It goes on through lost connections and sessions; meanwhile the last
     * value stands. The listener is called serially on a listener thread and may block; what it throws is logged. A
     * value that the codec does not understand is logged and passed over.
     *
     * @return ends the observation; a call that is under way may still be seen
     */
    public Registration observe(Consumer<? super Optional<Versioned<T>>> listener) {
        Observer observer = new Observer(listener);
        Mirror mirror = Mirror.of(coordinator, path, MirrorScope.NODE);
        mirror.listen(observer);
        return mirror;
    }

    /** Tells a listener of the value, but not again that there is none. Used by one thread at a time. */
    private final class Observer implements Consumer<MirrorChanges> {
        private final Consumer<? super Optional<Versioned<T>>> listener;
        private boolean toldOfNone;

        Observer(Consumer<? super Optional<Versioned<T>>> listener) {
            this.listener = Objects.requireNonNull(listener, "listener");
        }

        @Override
        public void accept(MirrorChanges changes) {
            if (changes.since() > 0 && changes.changes().isEmpty()) {
                return; // it may be read now or may not be, but is as it was
            }
            Optional<CachedNode> now = changes.changes().stream().findFirst().flatMap(NodeChange::after);
            Optional<Versioned<T>> value;
            try {
                value = now.flatMap(node -> decode(Optional.of(new GetData.NodeData(node.bytes(), node.stat()))));
            } catch (RuntimeException e) {
                LOG.warn("{}: not reported to {}", e.getMessage(), listener);
                return;
            }
            boolean toldBefore = toldOfNone && value.isEmpty();
            toldOfNone = value.isEmpty();
            if (!toldBefore) {
                listener.accept(value);
            }
        }
    }

    private Optional<Versioned<T>> decode(Optional<GetData.NodeData> found) {
        return found.filter(node -> !node.bytes().isEmpty())
                .map(node -> Versioned.of(decode(path, codec, node.data()), node.stat()));
    }

    static <T> T decode(NodePath path, DataCodec<T> codec, byte[] data) {
        try {
            return Objects.requireNonNull(codec.decode(data), "it makes nothing of it");
        } catch (Exception e) { // Kotlin and Scala code may throw checked exceptions, too
            throw new IllegalArgumentException(
                    "Invalid value at " + path + ", the codec does not understand it: " + e.getMessage(), e);
        }
    }

    private byte[] encode(T value) {
        return encode(path, codec, value);
    }

    static <T> byte[] encode(NodePath path, DataCodec<T> codec, T value) {
        byte[] data = codec.encode(Objects.requireNonNull(value, "value"));
        if (data == null || data.length == 0) {
            throw new IllegalArgumentException(
                    "Invalid value for " + path + ": it is encoded as no data at all, which stands for no value");
        }
        return data;
    }

    /** The value's znode, in the coordinator's namespace. */
    public NodePath path() {
        return path;
    }

    @Override
    public String toString() {
        return "SharedValue[" + path + ", " + coordinator + "]";
    }
}
