package io.conclave.config;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import io.conclave.recipe.Waiting;
import io.conclave.session.Registration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A configuration: typed keys with values, which programs read, watch and change while they run.
 *
 * <pre>{@code
 * static final ConfigKey<String> URL = ConfigKey.ofText("db/url");
 * static final ConfigKey<Long> POOL = ConfigKey.ofLong("db/pool-size");
 *
 * Configuration configuration = Configuration.at(coordinator, "/config");
 * configuration.publish(ConfigBatch.setting(URL, "jdbc:...").set(POOL, 20L)); // both or neither
 * configuration.observe(POOL, size -> pool.resize(size.orElse(10L)));
 * ConfigView view = configuration.view();                                     // reads cost nothing
 * }</pre>
 *
 * <p>A key is a znode below the configuration's root, its value the znode's data, nothing else; a znode without data
 * holds no value. The root's own data is the id of the last publication. See {@link SharedValue} for what lost replies
 * do to single keys.
 *
 * <p><b>Publications</b> are transactions: the server does all of it or nothing, so nothing is seen half-way and
 * nothing is to be cleaned up after a publisher that dies. They are limited to what fits into a request, 1 MB. Who
 * reads several keys one by one may read one before and one after a publication; a {@link ConfigView} shows each
 * publication whole or not at all.
 *
 * <p>While the connection is away, requests wait for the next one, and watches and views show the last state; if the
 * session is lost, requests fail with {@link io.conclave.error.SessionGoneException}, and watches and views go on with
 * the next session. Immutable and thread-safe.
 */
public final class Configuration {
    private final Coordinator coordinator;
    private final NodePath log;
    private final NodePath root;
    private final Requests requests;

    /** @param log the znode that has the id of the last publication */
    private Configuration(Coordinator coordinator, NodePath log, NodePath root) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.log = log;
        this.root = root;
        this.requests = new Requests(coordinator);
    }

    /**
     * The configuration at a path.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static Configuration at(Coordinator coordinator, String path) {
        return at(coordinator, NodePath.of(path));
    }

    /**
     * The configuration at a path.
     *
     * @throws IllegalArgumentException if it is the root
     */
    public static Configuration at(Coordinator coordinator, NodePath path) {
        RecipePaths.requireOwn(path, "a configuration");
        return new Configuration(coordinator, path, path);
    }

    /**
     * The part of the configuration whose keys begin with a name and a slash, with shorter names for them. What is
     * published there is a publication of this configuration: its id is written into this one's root, for the part's
     * znode may be a key itself.
     */
    public Configuration below(String name) {
        NodePath part = NodePath.of("/" + Objects.requireNonNull(name, "name")).within(root);
        return new Configuration(coordinator, log, part);
    }

    /** The value of a key, to be read, set, compared and observed. */
    public <T> SharedValue<T> value(ConfigKey<T> key) {
        return SharedValue.at(coordinator, key.pathIn(root), key.codec());
    }

    /**
     * The value of a key; empty if it has none. Blocks.
     *
     * @throws IllegalArgumentException if the key's codec does not understand it
     * @throws InterruptedException if the thread is interrupted
     */
    public <T> Optional<T> get(ConfigKey<T> key) throws InterruptedException {
        return value(key).get().map(Versioned::value);
    }

    /** As {@link #get}, without blocking. Completes on a listener thread. */
    public <T> CompletableFuture<Optional<T>> getAsync(ConfigKey<T> key) {
        return Waiting.unwrapped(value(key).getAsync().thenApply(read -> read.map(Versioned::value)));
    }

    /** Sets a key, over any value; see {@link SharedValue#set}. Blocks. */
    public <T> Versioned<T> set(ConfigKey<T> key, T value) throws InterruptedException {
        return value(key).set(value);
    }

    /** As {@link #set}, without blocking. Completes on a listener thread. */
    public <T> CompletableFuture<Versioned<T>> setAsync(ConfigKey<T> key, T value) {
        return value(key).setAsync(value);
    }

    /**
     * Sets a key if its value is still the expected one; empty if not. See {@link SharedValue#compareAndSet}. Blocks.
     */
    public <T> Optional<Versioned<T>> compareAndSet(ConfigKey<T> key, Versioned<T> expected, T value)
            throws InterruptedException {
        return value(key).compareAndSet(expected, value);
    }

    /** As {@link #compareAndSet}, without blocking. Completes on a listener thread. */
    public <T> CompletableFuture<Optional<Versioned<T>>> compareAndSetAsync(
            ConfigKey<T> key, Versioned<T> expected, T value) {
        return value(key).compareAndSetAsync(expected, value);
    }

    /** Takes the value of a key away; false if it had none. Blocks. */
    public boolean remove(ConfigKey<?> key) throws InterruptedException {
        return value(key).remove();
    }

    /** As {@link #remove}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> removeAsync(ConfigKey<?> key) {
        return value(key).removeAsync();
    }

    /**
     * Tells a listener of the value of a key: the present one first, then every change; empty for none. The latest
     * value always comes, those in between may be skipped. See {@link SharedValue#observe}.
     *
     * @return ends the observation; a call that is under way may still be seen
     */
    public <T> Registration observe(ConfigKey<T> key, Consumer<? super Optional<T>> listener) {
        Objects.requireNonNull(listener, "listener");
        return value(key).observe(read -> listener.accept(read.map(Versioned::value)));
    }

    /**
     * A live view of all keys; of a part of them with {@link #below} before. It begins to load at once. Never blocks.
     */
    public ConfigView view() {
        return new ConfigView(coordinator, root);
    }

    /**
     * Changes several keys in one transaction: all or none. Blocks. It costs one read a key and one for the
     * configuration, and the transaction; a key that is removed and has no znode costs a read of its parent.
     *
     * <p>It takes effect once at most. If others publish at the same time it begins anew, for as long as the caller
     * waits. If the reply is lost, it is found out whether it took effect; only if others have published since, more
     * than once, that is not known.
     *
     * @return false if one of its expectations does not hold; then nothing has happened
     * @throws OutcomeUnknownException if the reply was lost and others have published more than once since: so it was
     *     either published and replaced, or never published; or if the backend refuses to tell what is there. Read the
     *     keys, and publish again if they should not be what they are
     * @throws io.conclave.error.RefusedException if the backend does not take it: it is too large, say
     * @throws InterruptedException if the thread is interrupted; it may take effect anyway
     */
    public boolean publish(ConfigBatch batch) throws InterruptedException {
        return requests.await(publishAsync(batch));
    }

    /** As {@link #publish}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> publishAsync(ConfigBatch batch) {
        Objects.requireNonNull(batch, "batch");
        Publication publication = new Publication(requests, log, root, batch);
        return Attempts.start(requests, "publish " + batch, publication::attempt);
    }

    /** The configuration's znode, in the coordinator's namespace. */
    public NodePath path() {
        return root;
    }

    @Override
    public String toString() {
        return "Configuration[" + root + ", " + coordinator + "]";
    }
}
