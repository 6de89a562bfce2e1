package io.conclave.coordinator;

import dev.failsafe.RetryPolicy;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeContext;
import io.conclave.session.Authentication;
import io.conclave.session.TlsOptions;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendProvider;
import io.conclave.spi.ConnectString;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/** Collects the settings of a {@link Coordinator}. Not thread-safe. */
public final class CoordinatorBuilder {
    private static final Duration MIN_SESSION_TIMEOUT = Duration.ofMillis(20);
    private static final Duration MAX_SESSION_TIMEOUT = Duration.ofDays(1);

    private final ConnectString connectString;
    private final List<Authentication> authentications = new ArrayList<>();
    private Duration sessionTimeout = Duration.ofSeconds(10);
    private Duration connectTimeout = Duration.ofSeconds(15);
    private Duration tryTimeout = Duration.ofSeconds(1);
    private NodePath namespace = NodePath.ROOT;
    private RetryPolicy<Object> retryPolicy = defaultRetryPolicy();
    private Optional<Executor> listenerExecutor = Optional.empty();
    private TimeSource time = TimeSource.system();
    private MetricsHook metrics = MetricsHook.NONE;
    private Acl defaultAcl = Acl.OPEN;
    private long generation;
    private int maxQueuedRequests = 100_000;
    private boolean linearizableReads;
    private boolean followsEnsemble = true;
    private Optional<TlsOptions> tls = Optional.empty();

    CoordinatorBuilder(String connectString) {
        this.connectString = ConnectString.parse(connectString);
    }

    /**
     * How long the server keeps the session without hearing of it; 10 seconds if not set. The server may clamp it.
     *
     * <p>A step of this machine's wall clock forward counts as time that has passed. A step of more than this timeout
     * ends the session, as a suspended machine's would: set clocks gradually.
     */
    public CoordinatorBuilder sessionTimeout(Duration timeout) {
        if (timeout.compareTo(MIN_SESSION_TIMEOUT) < 0 || timeout.compareTo(MAX_SESSION_TIMEOUT) > 0) {
            throw new IllegalArgumentException("Invalid session timeout " + timeout + ": it must be from "
                    + MIN_SESSION_TIMEOUT + " to " + MAX_SESSION_TIMEOUT);
        }
        sessionTimeout = timeout;
        return this;
    }

    /** How long {@link #connect()} waits for the first connection; 15 seconds if not set. */
    public CoordinatorBuilder connectTimeout(Duration timeout) {
        if (timeout.isZero() || timeout.isNegative()) {
            throw new IllegalArgumentException("Invalid connect timeout " + timeout + ": it must be positive");
        }
        connectTimeout = timeout;
        return this;
    }

    /**
     * How long a plain {@code try...} of a recipe waits for the store's answer; 1 second if not set. Then it ends with
     * {@link io.conclave.error.NotConnectedException}. More is needed only where a round trip takes hundreds of
     * milliseconds: a try needs one round trip, and one more for each level of the path that is missing.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public CoordinatorBuilder tryTimeout(Duration timeout) {
        if (timeout.isZero() || timeout.isNegative()) {
            throw new IllegalArgumentException("Invalid try timeout " + timeout + ": it must be positive");
        }
        tryTimeout = timeout;
        return this;
    }

    /**
     * A path under which all paths of this coordinator lie; created on connecting if it is missing.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public CoordinatorBuilder namespace(String path) {
        return namespace(NodePath.of(path));
    }

    /** As {@link #namespace(String)}. */
    public CoordinatorBuilder namespace(NodePath path) {
        namespace = Objects.requireNonNull(path, "path");
        return this;
    }

    /**
     * When and how often a read of unknown outcome is sent again. Writes are never sent again by the coordinator;
     * recipes find out for themselves what became of theirs.
     */
    public CoordinatorBuilder retryPolicy(RetryPolicy<Object> policy) {
        retryPolicy = Objects.requireNonNull(policy, "policy");
        return this;
    }

    /**
     * Where listeners, watchers and the continuations of futures run. It needs threads of its own (one that runs tasks
     * on the calling thread is not allowed) and enough of them for listeners that block.
     *
     * <p>If it is not set, the coordinator has threads of its own, all of them daemons. From Java 24 on each callback
     * has a virtual thread. Before, 32 platform threads share the callbacks, not counting those that are at one
     * callback for more than 50 ms. So callbacks may wait for each other.
     */
    public CoordinatorBuilder listenerExecutor(Executor executor) {
        listenerExecutor = Optional.of(executor);
        return this;
    }

    /** The clocks and timers; the machine's if not set. */
    public CoordinatorBuilder timeSource(TimeSource source) {
        time = Objects.requireNonNull(source, "source");
        return this;
    }

    /**
     * Receives counts and durations, and is told of what is awaited and held; what it throws is logged. {@link
     * MetricsHook#of} makes one of several.
     */
    public CoordinatorBuilder metrics(MetricsHook hook) {
        metrics = MetricsHook.of(Objects.requireNonNull(hook, "hook"));
        return this;
    }

    /**
     * The ACL of znodes that are created without one; open if not set. Recipes watch what they create, so it must give
     * READ to the identities that this coordinator proves: otherwise a lock is refused with
     * {@link io.conclave.error.RefusalReason#NO_AUTH}.
     */
    public CoordinatorBuilder defaultAcl(Acl acl) {
        defaultAcl = Objects.requireNonNull(acl, "acl");
        return this;
    }

    /**
     * An identity to prove on every connection, such as {@link Authentication#digest} or
     * {@link Authentication#saslDigestMd5}.
     *
     * @throws IllegalArgumentException if it is the second of SASL: a connection makes one such exchange
     */
    public CoordinatorBuilder authentication(Authentication authentication) {
        if (isSasl(authentication) && authentications.stream().anyMatch(CoordinatorBuilder::isSasl)) {
            throw new IllegalArgumentException(
                    "Invalid authentication: there is one of SASL already, and a connection can prove one only");
        }
        authentications.add(authentication);
        return this;
    }

    /**
     * The generation of fencing tokens on a backend that keeps none itself (Apache ZooKeeper); 0 if not set. An
     * operator who restores such a backend from an older state raises it for all clients.
     */
    public CoordinatorBuilder generation(long number) {
        if (number < 0) {
            throw new IllegalArgumentException("Invalid generation " + number + ": it must not be negative");
        }
        generation = number;
        return this;
    }

    /**
     * The bound of requests submitted and not yet completed; beyond it they are refused with LIMIT_EXCEEDED, except the
     * removals of watches. 100,000 if not set.
     */
    public CoordinatorBuilder maxQueuedRequests(int bound) {
        if (bound < 1) {
            throw new IllegalArgumentException("Invalid bound of queued requests " + bound + ": it must be positive");
        }
        maxQueuedRequests = bound;
        return this;
    }

    /**
     * Makes every read that is submitted to the coordinator a {@link io.conclave.request.LinearizableRead}, and what an
     * application asks a recipe about its state (who holds a lock, who stands for election); not so by default. For
     * their own work recipes read as they need to, whatever is set here.
     */
    public CoordinatorBuilder linearizableReads(boolean value) {
        linearizableReads = value;
        return this;
    }

    /**
     * Whether the client asks the ensemble where its members serve clients, and connects to them when the servers of
     * the connect string fail; so by default. It does so if the connect string names more than one server: an address
     * alone may be that of a proxy or a load balancer. Servers of the connect string are always kept. Names are
     * resolved with each attempt in any case.
     */
    public CoordinatorBuilder followEnsemble(boolean value) {
        followsEnsemble = value;
        return this;
    }

    /**
     * Speaks TLS with the servers, and nothing else; not so by default. The ports of the connect string must be those
     * with TLS. Servers of which only the ensemble has told are not connected to, since it names ports without TLS.
     *
     * <p>Without effect where there is no network in between: {@code embedded:}.
     */
    public CoordinatorBuilder tls(TlsOptions options) {
        tls = Optional.of(options);
        return this;
    }

    /**
     * Connects. Blocks until the first connection, the first server that rejects the credentials, or the connect
     * timeout.
     *
     * @throws IllegalArgumentException if the connect string names a scheme without a backend on the class path, or
     *     breaks a rule of it
     * @throws io.conclave.error.ConnectException if there is no connection in time, a server rejects the credentials
     *     (the cause is a {@link io.conclave.error.CredentialsRejectedException}), the files of the TLS options cannot
     *     be used, or the thread is interrupted (its flag is kept)
     */
    public Coordinator connect() {
        ReconnectingCoordinator coordinator = begin();
        coordinator.awaitFirstConnection(connectTimeout);
        return coordinator;
    }

    /**
     * Starts to connect, and returns a coordinator that is CONNECTING: for an application that must start while the
     * servers are down. It tries until there is a connection or it is closed; {@link #connectTimeout} does not apply.
     * {@link Coordinator#state} and {@link Coordinator#onStateChange} tell of the first connection.
     *
     * <p>All can be used at once. Requests and recipes wait for the first connection; the namespace is made before the
     * first of them is executed. What has a limit of time ends when that is over, and a plain {@code try...} after the
     * try timeout, with {@link io.conclave.error.NotConnectedException}. Closing ends them all with {@link
     * io.conclave.error.ClosedException}. {@link Coordinator#onRejection} tells of rejected credentials. While the
     * namespace cannot be made (this client may not, say), requests are refused for the same reason, and each request
     * has it tried again.
     *
     * <p>Does not block, but for {@code embedded:}, where the server is in this process and is started first, and for
     * reading the files of the TLS options.
     *
     * @throws IllegalArgumentException if the connect string names a scheme without a backend on the class path, or
     *     breaks a rule of it
     * @throws io.conclave.error.ConnectException if an embedded server cannot be started: its directory is in use by
     *     another process, say; or if the files of the TLS options cannot be used
     */
    public Coordinator start() {
        return begin();
    }

    private ReconnectingCoordinator begin() {
        ListenerThreads threads = new ListenerThreads(listenerExecutor);
        Backend backend;
        try {
            backend = openBackend(threads);
        } catch (RuntimeException | Error e) {
            threads.close();
            throw e;
        }
        NodePath base = namespace.within(connectString.chroot());
        RecipeContext context = new RecipeContext(
                base,
                time,
                threads.listeners(),
                metrics,
                defaultAcl,
                generation,
                sessionTimeout,
                tryTimeout,
                backend.capabilities(),
                linearizableReads,
                maxQueuedRequests,
                new AtomicBoolean(),
                new ConcurrentHashMap<>());
        return new ReconnectingCoordinator(connectString.text(), backend, context, retryPolicy, threads);
    }

    /**
     * Connects without blocking, on a thread of its own. Completes on that thread, with what {@link #connect()} gives
     * or throws. Cancelling the future ends the attempt; a coordinator that has connected by then is closed. Do not
     * change this builder before the future completes.
     */
    public CompletableFuture<Coordinator> connectAsync() {
        CompletableFuture<Coordinator> connected = new CompletableFuture<>();
        Thread connecting = new Thread(() -> connectFor(connected), "conclave-connect " + connectString.text());
        connecting.setDaemon(true);
        connected.whenComplete((coordinator, failure) -> {
            if (Thread.currentThread() != connecting) {
                connecting.interrupt(); // the caller has ended it
            }
        });
        connecting.start();
        return connected;
    }

    private void connectFor(CompletableFuture<Coordinator> connected) {
        try {
            Coordinator coordinator = connect();
            if (!connected.complete(coordinator)) {
                coordinator.close();
            }
        } catch (RuntimeException | Error e) {
            connected.completeExceptionally(e);
        }
    }

    private Backend openBackend(ListenerThreads threads) {
        BackendOptions options = new BackendOptions(
                sessionTimeout,
                time,
                threads.dispatchers(),
                authentications,
                defaultAcl,
                maxQueuedRequests,
                metrics,
                followsEnsemble,
                tls);
        return provider().open(connectString, options);
    }

    private BackendProvider provider() {
        TreeSet<String> known = new TreeSet<>();
        for (BackendProvider provider :
                ServiceLoader.load(BackendProvider.class, BackendProvider.class.getClassLoader())) {
            if (provider.schemes().contains(connectString.scheme())) {
                return provider;
            }
            known.addAll(provider.schemes());
        }
        throw new IllegalArgumentException(
                "Invalid connect string \"" + connectString.text() + "\": no backend for the scheme \""
                        + connectString.scheme() + "\" on the class path; there is one for: " + known);
    }

    private static boolean isSasl(Authentication authentication) {
        return authentication.scheme().equals(Authentication.SASL);
    }

    private static RetryPolicy<Object> defaultRetryPolicy() {
        return RetryPolicy.builder()
                .handle(OutcomeUnknownException.class)
                .withBackoff(Duration.ofMillis(20), Duration.ofSeconds(1))
                .withMaxRetries(5)
                .build();
    }
}
