package io.conclave.ensemble;

import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.server.faults.ServerFaults;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Optional;

/**
 * A server in this JVM. It shares no thread with other code except that of timers, and these run through a
 * {@link PausableTime}; so it stands still when its own threads are held up. As with a process, sockets stay open and
 * the kernel goes on accepting connections and bytes for it.
 */
final class ServerInJvm implements RunningServer {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final ConclaveServer server;
    private final PausableTime time;
    private Optional<Standstill> standstill = Optional.empty();

    private ServerInJvm(ConclaveServer server, PausableTime time) {
        this.server = server;
        this.time = time;
    }

    /** Returns when it listens. */
    static ServerInJvm start(ServerConfig config, TimeSource clocks) {
        PausableTime time = new PausableTime(clocks);
        return new ServerInJvm(ConclaveServer.start(config, time, cause -> {}), time);
    }

    @Override
    public Optional<ServerStatus> status() {
        LogStatus log = server.logStatus();
        return Optional.of(new ServerStatus(
                log.role() == LogRole.LEADING,
                log.term(),
                server.isServing(),
                log.configuration().voters().size(),
                log.configuration().members().size()));
    }

    @Override
    public boolean isListening() {
        return ending().isEmpty();
    }

    @Override
    public Optional<String> ending() {
        LogRole role = server.logStatus().role();
        return role == LogRole.FAILED || role == LogRole.CLOSED ? Optional.of("its log is " + role) : Optional.empty();
    }

    @Override
    public ConclaveServer server() {
        return server;
    }

    @Override
    public void pause() {
        time.pause();
        try {
            standstill = Optional.of(Standstill.of(ServerFaults.of(server).threads(), LIMIT));
        } finally {
            if (standstill.isEmpty()) {
                time.resume();
            }
        }
    }

    @Override
    public void resume() {
        standstill.ifPresent(Standstill::end);
        standstill = Optional.empty();
        time.resume();
    }

    @Override
    public void stop() {
        server.close();
    }

    /** Timers that a pause holds up are never run. */
    @Override
    public void kill() {
        ServerFaults.of(server).kill(() -> standstill.ifPresent(Standstill::end));
    }

    @Override
    public String toString() {
        return server.logStatus() + " serving " + server.isServing();
    }
}
