package io.conclave.server;

import io.conclave.consensus.disk.RealDisk;
import io.conclave.consensus.ensemble.OfflineLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the first start of a server that lists no other from that of a member that has lost its disk. The first one
 * makes its cluster and the cluster's secret by itself. The other one must not: it would serve beside the cluster that
 * it belonged to, whose members it need not list, since they were added while it ran.
 */
final class FirstStart {
    private static final Logger LOG = LoggerFactory.getLogger(FirstStart.class);

    private FirstStart() {}

    /**
     * Whether an empty log directory becomes a new cluster. To be asked before the secret is read, for that may make
     * it. Blocks.
     *
     * @throws ServerStartException if that is for the operator to say
     */
    static boolean beginsCluster(ServerConfig config) {
        EnsembleConfig ensemble = config.ensemble();
        if (!ensemble.isAlone()) {
            return false;
        }
        if (ensemble.members().isEmpty() || config.dataDirectory().isEmpty()) {
            return true; // without a port for others, or nothing that could have been lost
        }
        Path directory = config.dataDirectory().get();
        if (!OfflineLog.isEmpty(RealDisk.in(directory))) {
            return false; // a log; or one that was set aside, whose member can only join the others
        }
        PeerSecretFile secret = PeerSecretFile.of(config);
        if (secret.isNeeded() && Files.exists(secret.path())) {
            throw new ServerStartException("there is no log in " + directory + ", but the cluster's secret is there: "
                    + secret.path() + ". If this server has lost its disk, add the server.N lines of the other members"
                    + " to its configuration and start it again: they take it in. If it has no others, and a first"
                    + " start was interrupted or the secret was put there before it, run init: it makes a new, empty"
                    + " cluster");
        }
        return true;
    }

    /**
     * The start of a new cluster has failed, perhaps before that was there. Takes back the secret that the start made:
     * the next one would take the server for one that has lost its disk. Blocks.
     */
    static void failed(ServerConfig config) {
        PeerSecretFile secret = PeerSecretFile.of(config);
        if (!secret.isNeeded() || config.dataDirectory().isEmpty()) {
            return; // then the secret may have been there before
        }
        try {
            if (OfflineLog.isEmpty(RealDisk.in(config.dataDirectory().get()))) {
                Files.deleteIfExists(secret.path());
            }
        } catch (IOException | RuntimeException e) {
            LOG.warn("The start has failed, and the secret that it made cannot be deleted: {}", secret.path(), e);
        }
    }
}
