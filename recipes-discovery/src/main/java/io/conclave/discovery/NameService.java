package io.conclave.discovery;

import io.conclave.config.SharedValue;
import io.conclave.config.Versioned;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.session.Registration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Names that stand for addresses, until they are bound to others: the name service of the ZooKeeper recipes page.
 *
 * <pre>{@code
 * NameService names = NameService.at(coordinator, "/names");
 * names.bind("printer", List.of("10.0.0.7:631", "10.0.0.8:631"));
 * Registration watch = names.watch("printer", addresses -> System.out.println("printer is at " + addresses));
 * }</pre>
 *
 * <p>A binding belongs to no process and outlives all of them; for instances that come and go with their processes see
 * {@link ServiceDiscovery}. A name is a znode below the base path whose data are the addresses, one in a line; one
 * without addresses is not bound.
 *
 * <p>While the connection is away, requests wait for the next one; if the session is lost they fail with
 * {@link io.conclave.error.SessionGoneException}, and the next ones use the next session. Immutable and thread-safe;
 * making one costs nothing.
 */
public final class NameService {
    private static final DataCodec<List<String>> LINES = DataCodec.TEXT.mapped(
            text -> text.lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty())
                    .toList(),
            addresses -> String.join("\n", addresses));

    private final Coordinator coordinator;
    private final NodePath base;

    private NameService(Coordinator coordinator, NodePath base) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.base = Objects.requireNonNull(base, "base");
    }

    /**
     * The names below a path.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static NameService at(Coordinator coordinator, String base) {
        return at(coordinator, NodePath.of(base));
    }

    /** The names below a path. */
    public static NameService at(Coordinator coordinator, NodePath base) {
        return new NameService(coordinator, base);
    }

    private SharedValue<List<String>> value(String name) {
        return SharedValue.at(coordinator, base.child(name), LINES);
    }

    private RecipeSession session() {
        return RecipeAccess.session(coordinator);
    }

    private static List<String> checked(String name, List<String> addresses) {
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException(
                    "Invalid addresses for " + name + ": there must be one at least; see unbind");
        }
        for (String address : addresses) {
            boolean hasControls = address.chars().anyMatch(Character::isISOControl);
            if (hasControls || address.isEmpty() || !address.equals(address.strip())) {
                throw new IllegalArgumentException("Invalid address \"" + address + "\" for " + name
                        + ": it must be text in one line, without blanks around it");
            }
        }
        return List.copyOf(addresses);
    }

    /**
     * Binds a name to these addresses, in place of others. Takes effect once at most. Blocks.
     *
     * @param name any name for a znode: without a slash, not "." or ".."
     * @throws IllegalArgumentException if name or addresses break a rule, naming it
     * @throws io.conclave.error.OutcomeUnknownException if the reply was lost and others have bound it more than once
     *     since: it was bound and replaced, or never bound
     * @throws InterruptedException if the thread is interrupted; it may take effect anyway
     */
    public void bind(String name, List<String> addresses) throws InterruptedException {
        Waiting.await(session(), bindAsync(name, addresses));
    }

    /** As {@link #bind}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Void> bindAsync(String name, List<String> addresses) {
        return Waiting.unwrapped(value(name).setAsync(checked(name, addresses)).thenAccept(bound -> {}));
    }

    /**
     * Binds a name if it is not bound. Blocks.
     *
     * @return false if it is bound, or to blank lines only, which another client has written
     * @throws IllegalArgumentException if name or addresses break a rule, naming it
     * @throws io.conclave.error.OutcomeUnknownException if the reply was lost and what is there does not tell whether
     *     it took effect
     * @throws InterruptedException if the thread is interrupted; it may take effect anyway
     */
    public boolean bindIfAbsent(String name, List<String> addresses) throws InterruptedException {
        return Waiting.await(session(), bindIfAbsentAsync(name, addresses));
    }

    /** As {@link #bindIfAbsent}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> bindIfAbsentAsync(String name, List<String> addresses) {
        return Waiting.unwrapped(
                value(name).setIfAbsentAsync(checked(name, addresses)).thenApply(Optional::isPresent));
    }

    /**
     * Takes a name's addresses away. One binding at most is taken away by a call. Blocks.
     *
     * @return false if it was not bound; true also of blank lines only, which another client has written
     * @throws io.conclave.error.OutcomeUnknownException if the reply was lost, others have bound it more than once
     *     since, and it is bound
     * @throws InterruptedException if the thread is interrupted; it may take effect anyway
     */
    public boolean unbind(String name) throws InterruptedException {
        return Waiting.await(session(), unbindAsync(name));
    }

    /** As {@link #unbind}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> unbindAsync(String name) {
        return value(name).removeAsync();
    }

    /**
     * The addresses of a name, in the order in which they were bound; none if it is not bound. Blocks.
     *
     * @throws IllegalArgumentException if there is something else than text
     * @throws InterruptedException if the thread is interrupted
     */
    public List<String> resolve(String name) throws InterruptedException {
        return Waiting.await(session(), resolveAsync(name));
    }

    /** As {@link #resolve}, without blocking. Completes on a listener thread. */
    public CompletableFuture<List<String>> resolveAsync(String name) {
        return Waiting.unwrapped(value(name).getAsync().thenApply(NameService::addresses));
    }

    private static List<String> addresses(Optional<Versioned<List<String>>> value) {
        return value.map(Versioned::value).orElse(List.of());
    }

    /**
     * The names that are bound, in order. Each is asked for; so this is for tools, not for each call. Blocks.
     *
     * @throws io.conclave.error.ConclaveException if one of them cannot be read
     * @throws InterruptedException if the thread is interrupted
     */
    public List<String> names() throws InterruptedException {
        return Waiting.await(session(), namesAsync());
    }

    /** As {@link #names}, without blocking. Completes on a listener thread. */
    public CompletableFuture<List<String>> namesAsync() {
        return Waiting.unwrapped(ChildList.of(coordinator, base).thenCompose(this::bound));
    }

    private CompletableFuture<List<String>> bound(List<String> names) {
        return Waiting.all(names.stream().map(this::ifBound))
                .thenApply(bound -> bound.stream().flatMap(Optional::stream).toList());
    }

    /** What is no text binds a name, too. */
    private CompletableFuture<Optional<String>> ifBound(String name) {
        return resolveAsync(name)
                .thenApply(found -> found.isEmpty() ? Optional.<String>empty() : Optional.of(name))
                .exceptionallyCompose(failure -> Waiting.cause(failure) instanceof IllegalArgumentException
                        ? CompletableFuture.completedFuture(Optional.of(name))
                        : CompletableFuture.failedFuture(failure));
    }

    /**
     * Tells a listener of a name's addresses: the present ones first, then after every change; none while it is not
     * bound. The latest always come, those in between may be skipped. It goes on through lost connections and sessions;
     * meanwhile what was told last stands. The listener is called serially on a listener thread and may block; what it
     * throws is logged. What {@code observe} is for values and keys.
     *
     * @return ends the watch; a call that is under way may still be seen
     */
    public Registration watch(String name, Consumer<? super List<String>> listener) {
        Objects.requireNonNull(listener, "listener");
        return value(name).observe(value -> listener.accept(addresses(value)));
    }

    /** Where the names are, in the coordinator's namespace. */
    public NodePath base() {
        return base;
    }

    @Override
    public String toString() {
        return "NameService[" + base + ", " + coordinator + "]";
    }
}
