package io.conclave.server;

import io.conclave.connection.ClusterNode;
import io.conclave.connection.CommandWords;
import io.conclave.connection.ConnectionAcceptor;
import io.conclave.connection.ConnectionLimits;
import io.conclave.connection.ConnectionServices;
import io.conclave.connection.ServiceMode;
import io.conclave.connection.SessionIds;
import io.conclave.connection.SessionLeases;
import io.conclave.connection.SuperUser;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.Replica;
import io.conclave.time.TimeSource;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * What {@link ConclaveServer} puts together around a log, without its threads and sockets: for whoever lends it event
 * loops, clocks and a log.
 */
public final class SimulatedServer {
    /** What the servers of the simulation understand. */
    public static final int FEATURE_LEVEL = 2;

    private static final int CHECK_EVERY = 16;
    private static final Duration SIGN_DELAY = Duration.ofMillis(50);
    private static final Duration CONTAINER_CHECK = Duration.ofSeconds(2);
    private static final ConnectionLimits LIMITS = new ConnectionLimits(0, 0, 1000, 1000, 1 << 20, 100, 60_000, 2000);

    private final Replica replica = new Replica(FEATURE_LEVEL);
    private final SessionTracker sessions;
    private final FeatureLevels features;
    private final ContainerReaper reaper;
    private final ConnectionAcceptor acceptor;
    private final LogEvents events;

    /**
     * @param leases plants a mistake
     * @param wrong told, on the log's thread, if its state is not that of the others
     */
    public SimulatedServer(
            int memberId,
            ReplicatedLog log,
            TimeSource time,
            EventLoopGroup loops,
            Random random,
            UnaryOperator<SessionLeases> leases,
            Consumer<String> wrong) {
        Reign reign = new Reign(() -> replica.state().featureLevel() >= FEATURE_LEVEL);
        SignsOfLife signs = new SignsOfLife(log, time, FEATURE_LEVEL, () -> true, SIGN_DELAY);
        sessions = new SessionTracker(log, time, reign, signs);
        features = new FeatureLevels(FEATURE_LEVEL, memberId, log, replica::state, reign, signs, time);
        reaper = new ContainerReaper(log, replica::state, reign, time, CONTAINER_CHECK);
        MembershipRequests members = new MembershipRequests(log, time, FEATURE_LEVEL);
        ConnectionServices services = new ConnectionServices(
                LIMITS,
                leases.apply(sessions),
                new SessionIds(memberId, random),
                new ClusterNode(),
                replica::state,
                SuperUser.NOBODY,
                CommandWords.NONE,
                members,
                time);
        acceptor = new ConnectionAcceptor(loops, log, time, services);
        StateCheck check = new StateCheck(memberId, CHECK_EVERY, log, wrong);
        events = new LogEvents(
                replica,
                reign,
                sessions,
                check,
                features,
                members,
                new PeerClocks(time),
                acceptor,
                ServiceMode.NONE,
                () -> {});
    }

    /** What the log applies to. */
    public Replica replica() {
        return replica;
    }

    /** Whom the log tells. */
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
