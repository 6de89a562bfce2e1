package io.conclave.membership;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.WaitTimeoutException;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.session.Registration;
import io.conclave.spi.SerialExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A znode that is kept where it is until it is closed: it is created, and created again when its session is lost or
 * another client deletes it. Curator calls that a PersistentNode. For a registration that must not stay away:
 *
 * <pre>{@code
 * try (KeptNode node = KeptNode.ephemeral(coordinator, "/services/billing/host-7", address)) {
 *     node.awaitCreated(Duration.ofSeconds(10));
 *     serve();
 * }
 * }</pre>
 *
 * <p>An ephemeral one goes with the session of its process and comes back with the coordinator's next session. While
 * another client's znode has the name, that of a process that was killed and whose session has not ended yet, say, it
 * waits until that has gone. A persistent one stays when the process ends without closing it; one that is there already
 * is taken over, and gets the data. Data that another client writes stands until the next {@link #update}, or until the
 * znode is created again. A member of a {@link Group} differs: it does not come back when it was thrown out.
 *
 * <p>A coordinator keeps a path once at a time: a second one begins when the first has ended. Thread-safe.
 */
public final class KeptNode implements AutoCloseable {
    private final NodePath path;
    private final NodeKeeping keeping;
    private final RecipeSession firstSession;
    private final CompletableFuture<Void> created = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private final List<Listener> listeners = new ArrayList<>();
    private final Payloads payloads;
    private KeptNodeState state = KeptNodeState.MISSING;

    private record Listener(Consumer<? super KeptNodeState> consumer, SerialExecutor queue) {}

    private KeptNode(Coordinator coordinator, NodePath path, byte[] data, boolean isEphemeral) {
        this.path = path;
        this.payloads = new Payloads(data.clone());
        this.firstSession = RecipeAccess.session(coordinator);
        this.keeping = new NodeKeeping(this, coordinator, path, isEphemeral);
    }

    /**
     * Keeps an ephemeral znode, with this data; makes its parents, as containers, if they are missing. Never blocks.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static KeptNode ephemeral(Coordinator coordinator, String path, byte[] data) {
        return ephemeral(coordinator, NodePath.of(path), data);
    }

    /** As {@link #ephemeral(Coordinator, String, byte[])}. */
    public static KeptNode ephemeral(Coordinator coordinator, NodePath path, byte[] data) {
        return begun(coordinator, path, data, true);
    }

    /**
     * Keeps a persistent znode, with this data; makes its parents if they are missing. It stays when the coordinator is
     * closed before this, or the process ends. Never blocks.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static KeptNode persistent(Coordinator coordinator, String path, byte[] data) {
        return persistent(coordinator, NodePath.of(path), data);
    }

    /** As {@link #persistent(Coordinator, String, byte[])}. */
    public static KeptNode persistent(Coordinator coordinator, NodePath path, byte[] data) {
        return begun(coordinator, path, data, false);
    }

    private static KeptNode begun(Coordinator coordinator, NodePath path, byte[] data, boolean isEphemeral) {
        if (path.isRoot()) {
            throw new IllegalArgumentException("Invalid path \"/\" of a kept znode: the root is always there");
        }
        KeptNode node = new KeptNode(coordinator, path, data, isEphemeral);
        node.keeping.begin();
        return node;
    }

    /** The znode, in the coordinator's namespace. */
    public NodePath path() {
        return path;
    }

    /** Where it stands now. Never blocks. */
    public KeptNodeState state() {
        synchronized (lock) {
            return state;
        }
    }

    /**
     * Completes on a listener thread when the znode was there with its data for the first time. Fails if the backend
     * refuses that, with a {@link io.conclave.error.RefusedException}; with {@link ClosedException} if this or the
     * coordinator is closed before; with {@link io.conclave.error.OutcomeUnknownException} if a persistent one may have
     * been created before its coordinator was closed.
     */
    public CompletableFuture<Void> created() {
        return firstSession.onListenerThread("creation of " + path, created);
    }

    /**
     * Waits for the first creation. Blocks.
     *
     * @throws WaitTimeoutException if it does not come in time; the attempts go on
     * @throws InterruptedException if the thread is interrupted; likewise
     * @throws io.conclave.error.ConclaveException what {@link #created} fails with
     */
    public void awaitCreated(Duration timeout) throws InterruptedException {
        Waiting.checkedTimeout(timeout);
        RecipeSession session = keeping.session();
        Waiting.await(
                session,
                created,
                timeout,
                () -> new WaitTimeoutException(
                        path.toString(),
                        timeout,
                        "The znode " + path + " was not created within " + Waiting.text(timeout) + ": "
                                + session.unlessConnected(
                                        "the store has not answered yet, or another client's znode has the name")));
    }

    /**
     * Changes the data and waits until it is written. If the znode is missing, it is created with it. It is written
     * over what another client has written meanwhile.
     *
     * @throws ClosedException if this is closed
     * @throws io.conclave.error.OutcomeUnknownException if this is persistent, and may have been written before its
     *     coordinator was closed
     * @throws io.conclave.error.RefusedException if the backend does not take it: it is too large, say; the data before
     *     it stands
     * @throws InterruptedException if the thread is interrupted; it may be written anyway
     */
    public void update(byte[] data) throws InterruptedException {
        Waiting.await(keeping.session(), begin(data));
    }

    /**
     * As {@link #update}, without blocking. Completes on a listener thread when this data or a later one is written.
     * Updates that follow each other quickly may be written as one, the latest.
     */
    public CompletableFuture<Void> updateAsync(byte[] data) {
        return firstSession.onListenerThread("update of " + path, begin(data));
    }

    private CompletableFuture<Void> begin(byte[] data) {
        CompletableFuture<Void> done;
        synchronized (lock) {
            if (state == KeptNodeState.CLOSING || state == KeptNodeState.CLOSED) {
                return CompletableFuture.failedFuture(new ClosedException(path + " is kept no more: it was closed"));
            }
            done = payloads.update(data.clone());
        }
        keeping.wanted();
        return done;
    }

    /** Tells a listener of every later change of state; it is called serially on a listener thread and may block. */
    public Registration onStateChange(Consumer<? super KeptNodeState> listener) {
        SerialExecutor queue = firstSession.listenerThreads("state listener of " + path);
        Listener added = new Listener(Objects.requireNonNull(listener, "listener"), queue);
        synchronized (lock) {
            listeners.add(added);
        }
        return () -> {
            synchronized (lock) {
                listeners.remove(added);
            }
        };
    }

    /**
     * Deletes the znode, and keeps it no more. Idempotent. Waits for the backend's confirmation, at most for the
     * session timeout; without one the deletion goes on in the background: of an ephemeral one until its session is
     * gone, of a persistent one over later sessions, until the coordinator is closed. Never throws for a lost
     * connection, and ignores interrupts (the thread's flag is kept).
     */
    @Override
    public void close() {
        begin();
        RecipeSession session = keeping.session();
        if (!session.isDispatcherThread()) { // it would wait for itself
            Waiting.awaitUninterruptibly(session, Waiting.atMost(session.time(), session.sessionTimeout(), closed));
        }
    }

    /**
     * As {@link #close}, without waiting. Completes on a listener thread when the znode is gone for certain. Fails if
     * it may be there still: with a {@link io.conclave.error.RefusedException} if the backend refuses the deletion,
     * because the znode has children, say, with {@link ClosedException} if the coordinator was closed before, with
     * {@link io.conclave.error.OutcomeUnknownException} if it was closed in the middle of the deletion of a persistent
     * one.
     */
    public CompletableFuture<Void> closeAsync() {
        begin();
        return firstSession.onListenerThread("end of " + path, closed);
    }

    private void begin() {
        synchronized (lock) {
            if (state == KeptNodeState.CLOSING || state == KeptNodeState.CLOSED) {
                return;
            }
            become(KeptNodeState.CLOSING);
        }
        keeping.close();
    }

    // So far what an application calls. From here on, what the keeping of the znode asks and tells.

    /** What the znode is to hold. */
    Payloads.Payload payload() {
        synchronized (lock) {
            return payloads.latest();
        }
    }

    private void become(KeptNodeState next) { // under the lock
        if (!state.mayBecome(next)) {
            return; // what was seen is no news, or comes after the close
        }
        state = next;
        for (Listener listener : listeners) {
            listener.queue.execute(() -> listener.consumer.accept(next));
        }
    }

    /** It is there, with this payload; null for another client's data. */
    void onPresent(Payloads.@Nullable Payload payload) {
        List<Payloads.Update> done;
        synchronized (lock) {
            become(KeptNodeState.PRESENT);
            done = payload == null ? List.of() : payloads.accept(payload);
        }
        if (payload != null) {
            created.complete(null);
        }
        done.forEach(update -> update.done().complete(null));
    }

    void onMissing() {
        synchronized (lock) {
            become(KeptNodeState.MISSING);
        }
    }

    /**
     * The backend does not take this payload: its update fails, and the one before it stands, if there is no newer one.
     * False if it is the first one, or was taken before.
     */
    boolean takesBack(Payloads.Payload payload, Throwable cause) {
        List<Payloads.Update> failed;
        synchronized (lock) {
            failed = payloads.refuse(payload);
        }
        failed.forEach(update -> update.done().completeExceptionally(cause));
        return !failed.isEmpty();
    }

    /** It is kept no more; with a failure it may be there still, or never was. */
    void onClosed(@Nullable Throwable failure) {
        List<Payloads.Update> failed;
        synchronized (lock) {
            become(KeptNodeState.CLOSED);
            failed = payloads.end();
        }
        Throwable why = failure == null ? new ClosedException(path + " is kept no more: it was closed") : failure;
        created.completeExceptionally(why);
        failed.forEach(update -> update.done().completeExceptionally(why));
        if (failure == null) {
            closed.complete(null);
        } else {
            closed.completeExceptionally(failure);
        }
    }

    @Override
    public String toString() {
        return "KeptNode[" + path + ", " + state() + "]";
    }
}
