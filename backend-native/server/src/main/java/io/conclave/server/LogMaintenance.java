package io.conclave.server;

import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.RealDisk;
import io.conclave.consensus.ensemble.OfflineLog;
import io.conclave.time.TimeSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What an operator does to the log of a server that does not run. */
public final class LogMaintenance {
    private LogMaintenance() {}

    /**
     * Makes a new cluster in the empty directory of the configuration, whose only member and voter is this one; the
     * others that are listed are taken in by it once both are started. Asks the others that are listed first, as far as
     * they run. Makes the cluster's secret, if members are to have one and it is not there yet. Blocks until all is
     * durable.
     *
     * @return the file of the secret, if one was made
     * @throws LogException if the directory is not empty, or in use, or a listed server belongs to a cluster
     * @throws ServerStartException if there is a secret that may not be used, or none can be written
     */
    public static Optional<Path> bootstrap(ServerConfig config, TimeSource time) {
        Path directory = directoryOf(config, "a cluster in memory is bootstrapped at its first start");
        if (Files.exists(directory.resolve("identity"))) {
            throw new LogException(directory + " holds the log of an existing cluster");
        }
        PeerSecretFile secret = PeerSecretFile.of(config);
        OfflineLog.requireNoCluster(
                config.ensemble().members(),
                config.ensemble().memberId(),
                secret.readIfThere(),
                config.ensemble().tls().open(),
                "Start this server without init: that cluster takes it in.");
        Optional<Path> made =
                secret.isNeeded() && secret.makeIfMissing() ? Optional.of(secret.path()) : Optional.empty();
        ConclaveServer.bootstrap(
                        config.withEnsemble(config.ensemble().withoutOthers()).withoutPort(), time)
                .close();
        return made;
    }

    /**
     * Sets a damaged log aside, so that the member can come back without one and be taken in by the others. Blocks.
     *
     * @return the names of the files that were set aside, as they are called now
     * @throws LogException if there is none, or it is in use
     */
    public static List<String> setLogAside(ServerConfig config) {
        return OfflineLog.setAside(diskOf(config, "a server in memory has no log to set aside"));
    }

    /**
     * Counts a log whose end was torn as whole, so that its member's vote is complete: an operator's last resort, where
     * no leader is elected since others are lost. If another member has claimed that the disk was set back, that is not
     * believed instead, and the member takes part again. Blocks.
     *
     * @return whether it was such a claim
     * @throws LogException if there is none, its end was not torn, or it is in use
     */
    public static boolean trustLog(ServerConfig config) {
        return OfflineLog.trust(diskOf(config, "a server in memory has no log to trust"));
    }

    private static Disk diskOf(ServerConfig config, String refusal) {
        return RealDisk.in(directoryOf(config, refusal));
    }

    private static Path directoryOf(ServerConfig config, String refusal) {
        return config.dataDirectory().orElseThrow(() -> new IllegalArgumentException(refusal));
    }
}
