package io.conclave.server;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.RealDisk;
import io.conclave.consensus.ensemble.EnsembleLog;
import java.util.Optional;
import java.util.concurrent.Executor;

/** Makes a server's log. */
@FunctionalInterface
interface LogFactory {
    /**
     * Makes the log, which is not started yet.
     *
     * @param loop an event loop of the server, which ends after the log
     */
    ReplicatedLog make(LogOptions options, Executor loop);

    /**
     * The log that the configuration asks for. One in memory without other members, for users in this JVM only, runs on
     * the event loop: it never waits for a disk, and what is written takes effect without a change of threads.
     */
    static LogFactory of(ServerConfig config) {
        Optional<Disk> disk = config.dataDirectory().map(RealDisk::in);
        if (disk.isPresent()) {
            return (options, loop) -> EnsembleLog.on(disk.get(), options);
        }
        boolean isPrivate =
                config.clientPort().isEmpty() && config.ensemble().members().isEmpty() && config.eventLoops() == 1;
        return isPrivate ? EnsembleLog::inMemory : (options, loop) -> EnsembleLog.inMemory(options);
    }
}
