package io.conclave.config;

import io.conclave.cache.CachedNode;
import io.conclave.cache.MirrorChanges;
import io.conclave.cache.MirrorState;
import io.conclave.cache.NodeChange;
import io.conclave.coordinator.Coordinator;
import io.conclave.error.WaitTimeoutException;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import io.conclave.node.NodePath;
import io.conclave.recipe.Waiting;
import io.conclave.session.Registration;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A live view of a configuration, kept up to date until it is closed. Reading from it costs no request. Thread-safe.
 *
 * <p>Its states are states that the configuration had: a publication is seen whole or not at all. The latest state
 * always comes, intermediate ones may be skipped. While the connection is away the last state stands, and
 * {@link #isCurrent} is false; then all is read again.
 */
public final class ConfigView implements AutoCloseable {
    private final NodePath root;
    private final Mirror mirror;

    ConfigView(Coordinator coordinator, NodePath root) {
        this.root = root;
        this.mirror = Mirror.ofTransactions(coordinator, root, MirrorScope.SUBTREE);
    }

    private Optional<String> nameOf(NodePath path) {
        String text = path.toString();
        return path.equals(root)
                ? Optional.empty()
                : Optional.of(text.substring(root.isRoot() ? 1 : root.toString().length() + 1));
    }

    private void put(SortedMap<String, CachedNode> values, CachedNode node) {
        if (!node.bytes().isEmpty()) {
            nameOf(node.path()).ifPresent(name -> values.put(name, node));
        }
    }

    /** The state now; of number 0 and empty before the first one is known. Never blocks. */
    public ConfigSnapshot snapshot() {
        MirrorState state = mirror.state();
        SortedMap<String, CachedNode> values = new TreeMap<>();
        state.nodes().values().forEach(node -> put(values, node));
        return new ConfigSnapshot(root, state.number(), values);
    }

    /**
     * The value of one key in the present state; empty if it has none. Never blocks.
     *
     * @throws IllegalArgumentException if the key's codec does not understand it
     */
    public <T> Optional<T> get(ConfigKey<T> key) {
        NodePath path = key.pathIn(root);
        return mirror.get(path)
                .filter(node -> !node.bytes().isEmpty())
                .map(node -> SharedValue.decode(path, key.codec(), node.data()));
    }

    /** Whether the view follows the configuration now. Never blocks. */
    public boolean isCurrent() {
        return mirror.isCurrent();
    }

    /**
     * Completes on a listener thread when the first state is complete; fails if the view or the coordinator is closed
     * before that.
     */
    public CompletableFuture<ConfigSnapshot> firstSnapshot() {
        return Waiting.unwrapped(mirror.loaded().thenApply(loaded -> snapshot()));
    }

    /**
     * Waits for the first state. Blocks.
     *
     * @throws WaitTimeoutException if it is not complete in time
     * @throws InterruptedException if the thread is interrupted
     */
    public ConfigSnapshot awaitFirstSnapshot(Duration timeout) throws InterruptedException {
        mirror.awaitLoaded(timeout);
        return snapshot();
    }

    /**
     * Tells a listener of the present state, as soon as there is one, and of every later one; those that follow each
     * other more quickly than it returns come together. It is called serially on a listener thread and may block; what
     * it throws is logged.
     */
    public Registration onChange(Consumer<? super ConfigUpdate> listener) {
        return mirror.listen(new Sum(listener));
    }

    /** Adds up the changes for one listener. Used by one thread at a time. */
    private final class Sum implements Consumer<MirrorChanges> {
        private final Consumer<? super ConfigUpdate> listener;
        private final SortedMap<String, CachedNode> values = new TreeMap<>();

        Sum(Consumer<? super ConfigUpdate> listener) {
            this.listener = Objects.requireNonNull(listener, "listener");
        }

        @Override
        public void accept(MirrorChanges changes) {
            TreeSet<String> changed = new TreeSet<>();
            for (NodeChange change : changes.changes()) {
                nameOf(change.path()).ifPresent(name -> {
                    boolean was = values.remove(name) != null;
                    change.after().ifPresent(node -> put(values, node));
                    if (was || values.containsKey(name)) {
                        changed.add(name);
                    }
                });
            }
            if (changes.since() == 0 || !changed.isEmpty()) {
                ConfigSnapshot snapshot = new ConfigSnapshot(root, changes.number(), values);
                listener.accept(new ConfigUpdate(snapshot, changes.since(), changed));
            }
        }
    }

    /** Ends the view; what it saw last can still be asked for. Idempotent, never blocks. */
    @Override
    public void close() {
        mirror.close();
    }

    @Override
    public String toString() {
        return "ConfigView[" + mirror + "]";
    }
}
