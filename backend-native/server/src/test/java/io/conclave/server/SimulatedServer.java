package io.conclave.server;

import io.conclave.connection.ClientLimits;
import io.conclave.connection.ClientSecurity;
import io.conclave.connection.CommandWords;
import io.conclave.connection.ConnectionAcceptor;
import io.conclave.connection.ConnectionLimits;
import io.conclave.connection.ConnectionServices;
import io.conclave.connection.LimitGuard;
import io.conclave.connection.ServiceMode;
import io.conclave.connection.SessionIds;
import io.conclave.connection.SessionLeases;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.Replica;
import io.conclave.time.TimeSource;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * What {@link ConclaveServer} puts together around a log, without its threads and sockets: for callers that lend it
 * event loops, clocks and a log.
 */
public final class SimulatedServer {
    /** What the servers of the simulation understand. */
    public static final int FEATURE_LEVEL = 5;

    private static final int CHECK_EVERY = 16;
    private static final Duration HEARTBEAT_DELAY = Duration.ofMillis(50);
    private static final Duration CONTAINER_CHECK = Duration.ofSeconds(2);
    private static final int MAX_NEVER_USED_MS = 4000;
    private static final ConnectionLimits LIMITS = new ConnectionLimits(0, 0, 100, 60_000, 2000);

    private final Replica replica = new Replica(FEATURE_LEVEL);
    private final SessionTracker sessions;
    private final FeatureLevels features;
    private final ContainerReaper reaper;
    private final ConnectionAcceptor acceptor;
    private final LogEvents events;

    /**
     * @param leases plants a mistake
     * @param wrong called, on the log's thread, if its state is not that of the others
     */
    public SimulatedServer(
            int memberId,
            ReplicatedLog log,
            TimeSource time,
            EventLoopGroup loops,
            Random random,
            UnaryOperator<SessionLeases> leases,
            Consumer<String> wrong) {
        LeaderTerm leaderTerm = new LeaderTerm(() -> replica.state().featureLevel() >= FEATURE_LEVEL);
        HeartbeatBatcher heartbeats = new HeartbeatBatcher(log, time, FEATURE_LEVEL, () -> true, HEARTBEAT_DELAY);
        sessions = new SessionTracker(log, time, leaderTerm, heartbeats);
        features = new FeatureLevels(
                FEATURE_LEVEL, memberId, Optional.empty(), log, replica::state, leaderTerm, heartbeats, time);
        reaper = new ContainerReaper(
                Reaping.DEFAULT
                        .withCheckIntervalMs(CONTAINER_CHECK.toMillis())
                        .withMaxNeverUsedMs(random.nextBoolean() ? 0 : 1 + random.nextInt(MAX_NEVER_USED_MS)),
                log,
                replica::state,
                leaderTerm,
                time,
                time::wallMillis,
                Runnable::run);
        MembershipRequests members = new MembershipRequests(log, time, FEATURE_LEVEL);
        ConnectionServices services = new ConnectionServices(
                LIMITS,
                new LimitGuard(ClientLimits.defaults(), time),
                leases.apply(sessions),
                new SessionIds(memberId, random),
                replica::state,
                ClientSecurity.NONE,
                CommandWords.NONE,
                members,
                features,
                () -> replica.state().featureLevel() >= FEATURE_LEVEL,
                time);
        acceptor = new ConnectionAcceptor(loops, log, time, services);
        StateCheck check = new StateCheck(memberId, CHECK_EVERY, log, wrong);
        events = new LogEvents(
                memberId,
                replica,
                leaderTerm,
                sessions,
                check,
                new DigestLog(),
                features,
                members,
                new PeerClocks(time),
                acceptor.loops(),
                ServiceMode.NONE,
                () -> {});
    }

    /** What the log applies to. */
    public Replica replica() {
        return replica;
    }

    /** The listener of the log. */
    public LogListener events() {
        return events;
    }

    /** What is served now. */
    public ServiceMode mode() {
        return events.mode();
    }

    /** Of the channels of clients. */
    public ChannelHandler childHandler() {
        return acceptor.childHandler();
    }

    /** The log has started. */
    public void opened() {
        reaper.start();
    }

    /** The log is about to be closed. */
    public void closing() {
        reaper.stop();
        features.stop();
        sessions.stop();
    }
}
