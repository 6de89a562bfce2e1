package io.conclave.server;

import io.conclave.connection.ConnectionAcceptor;
import io.conclave.connection.ConnectionServices;
import io.conclave.connection.LimitGuard;
import io.conclave.connection.ServiceMode;
import io.conclave.connection.SessionIds;
import io.conclave.consensus.LogException;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.PeerTls;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.Replica;
import io.conclave.server.faults.ServerFaults;
import io.conclave.time.TimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.TreeState;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running server: a log, the state it makes, and the connections that it serves.
 *
 * <p>The way of a write: a connection decodes it on its event loop and proposes it; the log makes it durable with
 * all else that has gathered, and applies the batch on its one thread; the batch goes to every event loop, which walks
 * through its steps and queues watch events before replies. The way of a read: its connection's event loop answers from
 * the state that it has walked to.
 */
public final class ConclaveServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ConclaveServer.class);
    /** What this version understands. */
    public static final int FEATURE_LEVEL = 5;

    /** At this level all members understand a suspicion that names its term. */
    private static final int TERMS_FEATURE_LEVEL = 2;

    /** How long clients that can go to another server may take for it. */
    private static final int GOODBYE_MS = 2_000;

    /** How long the others may take to read their last answers. */
    private static final int LAST_ANSWERS_MS = 1_000;

    static {
        ServerFaults.openDoor(server -> ((ConclaveServer) server).faults());
    }

    private final ServerConfig config;
    private final List<RepeatedLook> looks;
    private final ClientPorts ports;
    private final FatalFailures failures;
    private final TimeSource time;
    private final BackgroundThreads background;
    private final ReplicatedLog log;
    private final Replica replica;
    private final SessionTracker sessions;
    private final FeatureLevels features;
    private final LogEvents events;
    private final LimitGuard guard;
    private final ClientAuthService clientAuth;
    private final DigestLog digests = new DigestLog();
    private final MembershipRequests members;
    private final Optional<AdminSecret> secret;
    private final ConnectionAcceptor acceptor;
    private final LogWatchdog watchdog;
    private final CompletableFuture<@Nullable Void> serving = new CompletableFuture<>();
    private final ContainerReaper reaper;
    private final ServerTransport transport;
    private final AtomicBoolean closed = new AtomicBoolean();

    private ConclaveServer(
            ServerConfig config,
            boolean beginsCluster,
            LogFactory logs,
            TimeSource time,
            Consumer<LogException> fatal) {
        this.config = config;
        this.time = time;
        PeerSecretReload peerSecrets = new PeerSecretReload(PeerSecretFile.of(config));
        this.background = new BackgroundThreads(config.clientTls()
                .filter(tls -> tls.settings().checksCrl() || tls.settings().checksOcsp())
                .isPresent());
        this.ports = new ClientPorts(config, background.clientHandshakes());
        this.failures = new FatalFailures(config.dataDirectory(), fatal);
        SteadyWallClock clock = new SteadyWallClock(time);
        PeerTls peerTls = config.ensemble().tls().open(background.handshakes(), background.callersHandshakes());
        this.looks = looks(peerSecrets, peerTls);
        this.transport = config.clientPort().isPresent()
                ? ServerTransport.tcp(config.eventLoops())
                : ServerTransport.local(config.eventLoops());
        this.log = logs.make(
                ServerLogOptions.of(
                        config,
                        beginsCluster,
                        FEATURE_LEVEL,
                        time,
                        clock,
                        background,
                        peerSecrets,
                        peerTls,
                        this::failed),
                transport.group().next());
        this.replica = new Replica(FEATURE_LEVEL);
        LeaderTerm leaderTerm = new LeaderTerm(() -> replica.state().featureLevel() >= TERMS_FEATURE_LEVEL);
        BooleanSupplier tellsClock = () -> replica.state().featureLevel() >= HeartbeatNote.CLOCK_FEATURE_LEVEL;
        HeartbeatBatcher heartbeats =
                new HeartbeatBatcher(log, time, FEATURE_LEVEL, tellsClock, heartbeatDelay(config));
        this.sessions = new SessionTracker(log, time, leaderTerm, heartbeats);
        this.features = new FeatureLevels(
                FEATURE_LEVEL,
                config.ensemble().memberId(),
                config.ensemble().featureLevelDelay(),
                log,
                replica::state,
                leaderTerm,
                heartbeats,
                time);
        this.reaper = new ContainerReaper(
                config.reaping(), log, replica::state, leaderTerm, time, clock::millis, background.workers());
        this.members = new MembershipRequests(log, time, FEATURE_LEVEL);
        this.secret = config.homeDirectory().map(AdminSecret::new);
        this.guard = new LimitGuard(config.clientLimits(), time);
        this.clientAuth = new ClientAuthService(config, guard.credentials());
        ServerReport report = new ServerReport(
                config, this::mode, log::status, log::peerCounts, replica::state, sessions::notHeardOf, guard, time);
        this.acceptor = new ConnectionAcceptor(transport.group(), log, time, services(report));
        this.events = new LogEvents(
                config.ensemble().memberId(),
                replica,
                leaderTerm,
                sessions,
                new StateCheck(config.ensemble().memberId(), StateCheck.EVERY, log, this::stateIsWrong),
                digests,
                features,
                members,
                new PeerClocks(time),
                acceptor.loops(),
                config.readOnlyMode() ? ServiceMode.READ_ONLY : ServiceMode.NONE,
                () -> serving.complete(null));
        this.watchdog = LogWatchdog.of(config, log, time, transport.group().next(), new Rescue());
    }

    private final class Rescue implements LogWatchdog.Rescue {
        @Override
        public void stopServing() {
            events.standstill(true);
        }

        @Override
        public void serveAgain() {
            events.standstill(false);
        }

        @Override
        public void giveUp(Duration stoodStill) {
            failures.standsStill(stoodStill);
        }
    }

    private ServiceMode mode() {
        return events.mode();
    }

    private ConnectionAcceptor connections() {
        return acceptor;
    }

    /** A session whose client sends nothing but reads must be known to the leader well before its timeout. */
    private static Duration heartbeatDelay(ServerConfig config) {
        return Duration.ofMillis(Math.max(5, Math.min(500, config.minSessionTimeoutMs() / 10)));
    }

    /** There may be very many sessions and ephemerals; the state does not change under it, whatever thread looks. */
    private String sessionDump() {
        SessionReport dump =
                new SessionReport(replica.state(), sessions.remainingMs(), config.tickTimeMs(), time.wallMillis());
        return log.status().role() == LogRole.LEADING ? dump.ofLeader() : dump.ofFollower();
    }

    private ConnectionServices services(ServerReport report) {
        return new ConnectionServices(
                config.connectionLimits(),
                guard,
                sessions,
                new SessionIds(config.ensemble().memberId()),
                replica::state,
                clientAuth.security(secret, replica::state),
                new FourLetterWords(
                        config,
                        report,
                        new ServerDescription(config, log::status),
                        this::connections,
                        this::sessionDump,
                        digests::text,
                        background.words()),
                members,
                features,
                config.offersTtl() ? new LevelInForce(Change.TTL_FEATURE_LEVEL, replica::state) : () -> false,
                time);
    }

    /**
     * Starts a server. One by itself serves when this returns, and its empty data directory becomes a new cluster at
     * its first start; one of an ensemble listens, and {@link #serving()} says when it serves. So does one that lists
     * no other, but whose log has other voters, or whose disk is said to have been set back.
     *
     * @param fatal called once if the log fails, when the connections have been closed; on a thread of its own
     * @throws LogException if the log cannot be read or its directory is in use; or if there is none, since it was set
     *     aside, and no other is listed
     * @throws ServerStartException if the port cannot be opened, or the cluster's secret is missing or may not be used;
     *     or if it is there, while the data directory of a server that lists no other is empty
     */
    public static ConclaveServer start(ServerConfig config, TimeSource time, Consumer<LogException> fatal) {
        return start(config, LogFactory.of(config), time, fatal);
    }

    /** As {@link #start(ServerConfig, TimeSource, Consumer)}, on a log of the caller's. */
    static ConclaveServer start(ServerConfig config, LogFactory logs, TimeSource time, Consumer<LogException> fatal) {
        boolean beginsCluster = FirstStart.beginsCluster(config);
        try {
            return start(config, beginsCluster, logs, time, fatal);
        } catch (RuntimeException | Error e) {
            if (beginsCluster) {
                FirstStart.failed(config);
            }
            throw e;
        }
    }

    /** Makes a new cluster in the empty directory of a server that lists no other; on an operator's word. */
    static ConclaveServer bootstrap(ServerConfig config, TimeSource time) {
        return start(config, true, LogFactory.of(config), time, cause -> {});
    }

    private static ConclaveServer start(
            ServerConfig config,
            boolean beginsCluster,
            LogFactory logs,
            TimeSource time,
            Consumer<LogException> fatal) {
        ConclaveServer server = new ConclaveServer(config, beginsCluster, logs, time, fatal);
        try {
            server.open();
            server.clientAuth.started(true);
            return server;
        } catch (RuntimeException | Error e) {
            server.clientAuth.started(false);
            server.close();
            throw e;
        }
    }

    /** Recovers, then listens; clients that come before this member serves are turned away. */
    private void open() {
        log.start(replica, events);
        secret.ifPresent(AdminSecret::publish);
        ports.open(transport, acceptor);
        reaper.start();
        watchdog.start();
        looks.forEach(RepeatedLook::start);
        if (config.ensemble().isAlone() && isOnlyVoter() && !takesNoPart()) {
            awaitServing();
        }
        LOG.info("Listening on {}", ports);
    }

    /** Files that may be replaced while the server runs. */
    private List<RepeatedLook> looks(PeerSecretReload peerSecrets, PeerTls peerTls) {
        List<Runnable> all = new ArrayList<>();
        if (PeerSecretFile.of(config).isNeeded()) {
            all.add(peerSecrets::look);
        }
        if (config.ensemble().tls().reloads()) {
            peerTls.context().ifPresent(context -> all.add(context::reloadIfChanged));
        }
        ports.reloadable().ifPresent(context -> all.add(context::reloadIfChanged));
        return all.stream()
                .map(look -> new RepeatedLook(time, background.lookups(), look))
                .toList();
    }

    /** By the log, for the configuration file need not list all members. One that has no cluster yet is none. */
    private boolean isOnlyVoter() {
        return log.status().configuration().isOnlyVoter(config.ensemble().memberId());
    }

    /** Else the only voter leads once its log has started, or has failed. */
    private boolean takesNoPart() {
        return log.status().role() == LogRole.FOLLOWING;
    }

    private void awaitServing() {
        try {
            serving.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof LogException cause ? cause : e;
        }
    }

    /** Completes when this server serves its clients for the first time; exceptionally if its log fails before. */
    public CompletionStage<@Nullable Void> serving() {
        return serving.minimalCompletionStage();
    }

    /** Whether clients are served everything now; from any thread. */
    public boolean isServing() {
        return events.mode() == ServiceMode.FULL;
    }

    /** The address that clients connect to: an InetSocketAddress, or a LocalAddress inside the JVM. */
    public SocketAddress address() {
        return ports.address();
    }

    /** The TCP port of clients; empty for a server without one. */
    public Optional<Integer> clientPort() {
        return address() instanceof InetSocketAddress tcp ? Optional.of(tcp.getPort()) : Optional.empty();
    }

    /** The TCP port of clients with TLS; empty for a server without one. */
    public Optional<Integer> secureClientPort() {
        return ports.securePort();
    }

    /** The event loops, which clients inside the JVM may share; they end with the server. */
    public EventLoopGroup eventLoops() {
        return transport.group();
    }

    private ServerFaults faults() {
        return new ServerFaults() {
            @Override
            public List<Executor> threads() {
                return ConclaveServer.this.threads();
            }

            @Override
            public void kill(Runnable letGo) {
                ConclaveServer.this.kill(letGo);
            }
        };
    }

    /** See {@link ServerFaults#threads()}. */
    List<Executor> threads() {
        List<Executor> all = new ArrayList<>();
        transport.group().forEach(all::add);
        all.add(log::execute);
        all.addAll(background.all());
        return all;
    }

    /** The state after the last applied change; from any thread. */
    public TreeState state() {
        return replica.state();
    }

    /** Where the log stands; from any thread. */
    public LogStatus logStatus() {
        return log.status();
    }

    /** How many connections there are; from any thread. */
    public int connectionCount() {
        return acceptor.connectionCount();
    }

    /** On the log's thread: see {@link FatalFailures#stateIsWrong}. Nothing that is here may be served any more. */
    void stateIsWrong(String reason) {
        events.stopForGood();
        failures.stateIsWrong(reason, () -> kill(() -> {}));
    }

    /** On the log's thread: memory and disk may disagree, so nothing that is here may be served any more. */
    private void failed(LogException cause) {
        events.stopForGood();
        serving.completeExceptionally(cause);
        failures.logFailed(cause, this::close);
    }

    /** See {@link ServerFaults#kill}. */
    private void kill(Runnable letGo) {
        if (!closed.compareAndSet(false, true)) {
            letGo.run();
            return;
        }
        List<ChannelFuture> deaf = ports.beginClosing(); // first, or a loop accepts while it closes many connections
        Future<?> broken = acceptor.beginClosing();
        log.abandon();
        letGo.run();
        broken.awaitUninterruptibly();
        deaf.forEach(Future::awaitUninterruptibly);
        end();
    }

    private void end() {
        reaper.stop();
        looks.forEach(RepeatedLook::stop);
        features.stop();
        sessions.stop();
        log.close();
        watchdog.stop(); // not before: the disk may hang while the log is closed, and then the process has to end
        acceptor.closeAll();
        transport.close();
        background.shutdown();
        clientAuth.close();
        LOG.info("Closed");
    }

    /**
     * Transfers leadership and has clients go to other servers, commits what was accepted, answers it, and closes log,
     * connections and threads; sessions stay as they are, for the next start. Blocks for a few seconds at most;
     * idempotent.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        ports.close();
        if (isServing() && log.status().role() != LogRole.FAILED) {
            dismissClients();
        }
        end();
    }

    /**
     * Clients go elsewhere, or have their last answers, before anything else ends; meanwhile leadership goes elsewhere,
     * too.
     */
    private void dismissClients() {
        if (log.status().configuration().members().size() > 1) {
            log.transferLeadership(0);
            awaitAtMost(GOODBYE_MS, acceptor.sayGoodbye());
        }
        awaitAtMost(LAST_ANSWERS_MS, acceptor.finish());
    }

    private static void awaitAtMost(int ms, CompletionStage<@Nullable Void> stage) {
        try {
            stage.toCompletableFuture().get(ms, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            LOG.info("Some clients have not gone within {} ms", ms);
        } catch (ExecutionException e) {
            throw new IllegalStateException("waiting for the clients to leave has failed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
