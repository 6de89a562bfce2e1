package io.conclave.recipe;

import io.conclave.error.CredentialsRejectedException;
import io.conclave.error.NotConnectedException;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.NodePath;
import io.conclave.node.Permission;
import io.conclave.request.Check;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.Read;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.request.Watcher;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendSession;
import io.conclave.spi.Capability;
import io.conclave.spi.SerialExecutor;
import io.conclave.spi.SessionListener;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One session of a coordinator as a recipe sees it; a recipe that goes on after a loss asks the coordinator for the
 * next one.
 *
 * <p>State changes, watch events and the completions of {@link #submit} come one at a time on the session's dispatcher,
 * in order; nothing there may block. So a recipe that touches its state on the dispatcher only ({@link #execute}) needs
 * no locks.
 */
public final class RecipeSession implements Sender {
    private static final Logger LOG = LoggerFactory.getLogger(RecipeSession.class);

    private final RecipeContext context;
    private final Namespace namespace;
    private final Map<Long, SessionListener> listeners = new ConcurrentSkipListMap<>(); // in order of registration
    private final Map<Long, Runnable> closingTasks = new ConcurrentSkipListMap<>(); // in order of registration
    private final AtomicLong registrations = new AtomicLong();
    private final CompletableFuture<BackendSession> opened;
    private final NamespaceGate gate;
    private final Map<Class<?>, Object> kept = new ConcurrentHashMap<>();
    private volatile boolean isLast;

    public RecipeSession(RecipeContext context) {
        this(context, context.base(), new CompletableFuture<>());
    }

    private RecipeSession(RecipeContext context, NodePath base, CompletableFuture<BackendSession> opened) {
        this.context = context;
        this.namespace = new Namespace(base);
        this.opened = opened;
        this.gate = new NamespaceGate(base, base.isRoot() ? this : atRoot(), context);
    }

    /** The same session without a namespace. */
    public RecipeSession atRoot() {
        return new RecipeSession(context, NodePath.ROOT, opened);
    }

    /**
     * Opens the backend's session, and makes the namespace with its first requests if it is not known to exist. Never
     * throws: if the backend does, requests wait, and after a pause the session is LOST, so that the coordinator tries
     * another one.
     *
     * @param first told of every state, before the listeners of recipes
     */
    public void open(Backend backend, SessionListener first, Duration pause) {
        add(first);
        SessionListener told = new Told();
        try {
            opened.complete(backend.openSession(told));
        } catch (RuntimeException | Error e) {
            LOG.warn("A session could not be opened; trying again in {} ms", pause.toMillis(), e);
            UnopenedSession unopened = new UnopenedSession(told, context, e);
            opened.complete(unopened);
            context.time().schedule(pause, unopened::lose);
        }
        gate.makeNamespace();
    }

    /**
     * Completes on the dispatcher when the coordinator's namespace is there; with a failure if the namespace was
     * refused or the session ended before.
     */
    public CompletionStage<Void> namespaceMade() {
        return gate.firstAttempt();
    }

    /**
     * Whether the coordinator's namespace was found or made. If not, a refusal says why it could not be, and nothing of
     * the znode that was asked for.
     */
    public boolean isNamespaceThere() {
        return gate.isOpen();
    }

    /** Passes on what the backend says of the session. */
    private final class Told implements SessionListener {
        @Override
        public void onState(SessionState state) {
            SessionState seen = asSeen(state);
            tell(seen, listener -> listener.onState(seen));
        }

        @Override
        public void onRejected(CredentialsRejectedException rejection) {
            tell(rejection, listener -> listener.onRejected(rejection));
        }
    }

    private void tell(Object what, Consumer<SessionListener> call) {
        opened.join(); // the backend may be quicker to connect than to return; it never blocks in between
        for (SessionListener listener : List.copyOf(listeners.values())) {
            try {
                call.accept(listener);
            } catch (RuntimeException | Error e) {
                LOG.error("Listener {} failed on {}", listener, what, e);
            }
        }
    }

    /**
     * No session comes after this one, because the coordinator is being closed. A caller that looks for the next
     * session when this one is lost fails with the closing of the coordinator.
     */
    public void becomeLast() {
        isLast = true;
    }

    private SessionState asSeen(SessionState state) {
        return isLast && state == SessionState.LOST ? SessionState.CLOSED : state;
    }

    /** What the backend has opened. */
    BackendSession session() {
        return opened.join();
    }

    /** The session's id; 0 before the first connection. */
    public long id() {
        return session().id();
    }

    /** The state now; listeners may not have been told of it yet. A session is only LOST if another one follows it. */
    public SessionState state() {
        return asSeen(session().state());
    }

    /**
     * Submits a request, with paths inside the coordinator's namespace; see {@link BackendSession#submit}. It waits
     * until the namespace is there.
     */
    public <R> CompletionStage<R> submit(Request<R> request) {
        CompletionStage<R> answer = gate.submit(session(), namespace.outward(request));
        return namespace.base().isRoot() ? answer : answer.thenApply(namespace::inward);
    }

    /**
     * Submits a transaction, with paths inside the coordinator's namespace, that takes effect only while another znode
     * is there, wherever that is.
     *
     * @param znode its path as the backend sees it; see {@link #absolute}
     * @return the results of the check and of the operations behind it; a refusal counts the check as operation 0
     */
    public CompletionStage<List<Multi.Result>> submitWhileExists(NodePath znode, Multi multi) {
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(Check.exists(znode));
        operations.addAll(multi.within(namespace.base()).operations());
        return gate.submit(session(), new Multi(operations)).thenApply(namespace::inward);
    }

    /**
     * Submits a request and goes on with its answer or its failure, on the dispatcher. To be called there as well: from
     * another thread the answer may have come before its continuation is attached, which then runs on the calling
     * thread.
     *
     * @param onFailure is given one of the kinds of failure (see {@link io.conclave.error}), unwrapped
     */
    @Override
    public <R> void send(Request<R> request, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        submit(request).whenComplete((answer, failure) -> {
            try {
                if (failure == null) {
                    onAnswer.accept(answer);
                } else {
                    onFailure.accept(Waiting.cause(failure));
                }
            } catch (RuntimeException | Error e) {
                LOG.error("What follows {} failed", request.describe(), e); // a stage would swallow it
            }
        });
    }

    /**
     * Removes a watch that has not fired. One that stays would wait at the backend, and gather with others there. To be
     * called on the dispatcher.
     */
    public void unwatch(NodePath path, Watcher watcher) {
        unwatch(path, watcher, () -> {});
    }

    /**
     * Removes a watch that has not fired. To be called on the dispatcher.
     *
     * @param removed called when it is removed, has fired, or went with its session
     */
    public void unwatch(NodePath path, Watcher watcher, Runnable removed) {
        if (state().isLive()) {
            read(new RemoveWatch(path, watcher), done -> removed.run(), cause -> removed.run());
        } else {
            removed.run();
        }
    }

    /** Runs a task on the dispatcher, in order with events and completions. Never blocks. */
    public void execute(Runnable task) {
        session().dispatcher().execute(task);
    }

    /** Whether the calling thread is the dispatcher, which must not block. */
    public boolean isDispatcherThread() {
        return session().dispatcher() instanceof SerialExecutor serial && serial.isCurrent();
    }

    /** Tells a listener, on the dispatcher, of every later change of state. */
    public Registration onStateChange(SessionListener listener) {
        long number = add(listener);
        return () -> listeners.remove(number);
    }

    private long add(SessionListener listener) {
        long number = registrations.getAndIncrement();
        listeners.put(number, listener);
        return number;
    }

    /**
     * Runs a task on the dispatcher when the coordinator is closed, before its session is: for a recipe that has
     * accepted what it has not sent yet. What the task sends goes out if there is a connection, and is answered before
     * the session ends. It must not block.
     */
    public Registration onClosing(Runnable task) {
        long number = registrations.getAndIncrement();
        closingTasks.put(number, task);
        return () -> closingTasks.remove(number);
    }

    /** See {@link BackendSession#connectionNumber}. */
    public long connectionNumber() {
        return session().connectionNumber();
    }

    /** See {@link BackendSession#remaining}. */
    public Duration remaining() {
        return session().remaining();
    }

    /** See {@link BackendSession#deadlineIsStrict}. */
    public boolean deadlineIsStrict() {
        return session().deadlineIsStrict();
    }

    /** See {@link BackendSession#connectFailure}. */
    public Optional<Throwable> connectFailure() {
        return session().connectFailure();
    }

    /** The generation of fencing tokens: the backend's, or the configured one. */
    public long generation() {
        return session().generation().orElse(context.configuredGeneration());
    }

    /** The timeout that was asked for; the negotiated one may be clamped by the server. */
    public Duration sessionTimeout() {
        return context.sessionTimeout();
    }

    /** How long a plain try waits for the store's answer; as the coordinator was set to. */
    public Duration tryTimeout() {
        return context.tryTimeout();
    }

    /**
     * What a plain try ends with that the store has not answered in time.
     *
     * @param what was to be found out, as in "whether /locks/a is free"
     * @param consequence what holds for the caller now, and what it can do, as in "Nothing is held; try again later"
     */
    public NotConnectedException noAnswer(String what, String consequence) {
        String message = "Cannot tell " + what + ": the store did not answer within " + Waiting.text(tryTimeout())
                + " (" + state() + "). " + consequence;
        return connectFailure()
                .map(cause -> new NotConnectedException(message, cause))
                .orElseGet(() -> new NotConnectedException(message));
    }

    /** Why a wait took too long: that there is no connection, or else this. */
    public String unlessConnected(String otherwise) {
        return state() == SessionState.CONNECTED ? otherwise : "there is no connection to the store";
    }

    /** Whether everybody may read znodes that are created without an ACL, so surely the client that creates them. */
    public boolean isReadByAll() {
        return context.defaultAcl().entries().stream()
                .anyMatch(entry ->
                        entry.scheme().equals("world") && entry.permissions().contains(Permission.READ));
    }

    /** What the backend can do beyond the common contract. */
    public boolean has(Capability capability) {
        return context.capabilities().contains(capability);
    }

    /** The request as an application means it: what reads, reads linearizably, if its coordinator is set to that. */
    public <R> Request<R> forApplication(Request<R> request) {
        return context.linearizableReads() && request instanceof Read<R> read ? read.linearizable() : request;
    }

    /** The clocks and timers. */
    public TimeSource time() {
        return context.time();
    }

    /** Where an application's listeners and continuations run. */
    public Executor listenerExecutor() {
        return context.listenerExecutor();
    }

    /**
     * The listeners' threads for one of the application's listeners or calls: one task at a time, in order.
     *
     * @param what names it in the log if it blocks for long
     */
    public SerialExecutor listenerThreads(String what) {
        return new SerialExecutor(what, listenerExecutor(), time());
    }

    /**
     * A stage for the application, which completes as the given one does, but on a listener thread, with a failure
     * unwrapped. It waits for no other stage, so the application may block there.
     *
     * @param what names it in the log if it blocks for long
     */
    public <T> CompletableFuture<T> onListenerThread(String what, CompletionStage<T> answer) {
        CompletableFuture<T> stage = new CompletableFuture<>();
        SerialExecutor listeners = listenerThreads(what);
        answer.whenComplete((result, failure) -> listeners.execute(() -> Waiting.forward(answer, stage)));
        return stage;
    }

    /** Receives counts and durations. */
    public MetricsHook metrics() {
        return context.metrics();
    }

    /** The path as the backend sees it. */
    public NodePath absolute(NodePath path) {
        return path.within(namespace.base());
    }

    /**
     * What the recipes on this session have in common, for as long as it is referred to; made when it is first asked
     * for. Any thread.
     *
     * @param kind what it is; there is one of each
     */
    public <T> T keep(Class<T> kind, Supplier<T> maker) {
        return kind.cast(kept.computeIfAbsent(kind, first -> maker.get()));
    }

    /**
     * What recipes keep as long as the coordinator lives, whatever becomes of its sessions; made when it is first asked
     * for. Any thread.
     *
     * @param kind what it is; there is one of each
     */
    public <T> T keepWithCoordinator(Class<T> kind, Supplier<T> maker) {
        return kind.cast(context.kept().computeIfAbsent(kind, first -> maker.get()));
    }

    /**
     * Closes the session, in order with what the dispatcher was given before and with what is sent for
     * {@link #onClosing}. Completes on the dispatcher.
     */
    public CompletionStage<Void> closeAsync() {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        execute(() -> {
            closingTasks.values().forEach(this::runOnClosing);
            session().closeAsync().whenComplete((done, failure) -> closed.complete(null));
        });
        return closed;
    }

    private void runOnClosing(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.error("{}: what was to be sent before the end failed", this, e);
        }
    }

    @Override
    public String toString() {
        return opened.isDone() ? session().toString() : "session not opened";
    }
}
