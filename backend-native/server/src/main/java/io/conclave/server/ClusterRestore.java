package io.conclave.server;

import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.RealDisk;
import io.conclave.consensus.ensemble.EnsembleLog;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.RestoredCluster;
import io.conclave.replica.MemberList;
import io.conclave.time.TimeSource;
import io.conclave.tree.RestoredState;
import io.conclave.tree.SnapshotCodec;
import io.conclave.tree.TreeState;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Makes a new cluster from the state of an earlier one, in the empty directory of a server that does not run. Its
 * generation is greater than any that the earlier cluster has given, so no fencing token goes back.
 */
public final class ClusterRestore {
    /** What clients read has 18 digits at most. */
    private static final long MAX_GENERATION = 999_999_999_999_999_999L;

    private ClusterRestore() {}

    /**
     * What was made.
     *
     * @param state with which the new cluster begins
     * @param secret the file of the cluster's secret, if one was made
     */
    public record Restored(TreeState state, Optional<Path> secret) {}

    /**
     * Restores. Asks the other servers that are listed first, as far as they run. Makes the cluster's secret, if members
     * are to have one and it is not there. Blocks until all is durable.
     *
     * @param state of the earlier cluster
     * @param wanted the generation that the operator asks for; else it is the time, or one more than the state's
     * @throws LogException if the directory is not empty or in use, a listed server belongs to a cluster, or the state
     *     needs a newer version
     * @throws IllegalArgumentException if the generation is not greater than the state's, or the server keeps no files
     * @throws ServerStartException if there is a secret that may not be used, or none can be written
     */
    public static Restored restore(ServerConfig config, TreeState state, OptionalLong wanted, TimeSource time) {
        Path directory = config.dataDirectory()
                .orElseThrow(() -> new IllegalArgumentException("a server in memory has nothing to restore into"));
        if (state.featureLevel() > ConclaveServer.FEATURE_LEVEL) {
            throw new LogException("the backup uses feature level " + state.featureLevel()
                    + ", and this software understands " + ConclaveServer.FEATURE_LEVEL
                    + " at most: restore it with a newer version");
        }
        EnsembleConfig ensemble = config.ensemble();
        PeerSecretFile secret = PeerSecretFile.of(config);
        EnsembleLog.requireNoCluster(ensemble.members(), ensemble.memberId(), secret.readIfThere());
        long now = time.wallMillis();
        long generation = wanted.orElse(Math.max(state.generation() + 1, now));
        if (generation > MAX_GENERATION) {
            throw new IllegalArgumentException(
                    "Invalid generation " + generation + ": it must be at most " + MAX_GENERATION);
        }
        EnsembleMember self =
                ensemble.self().orElseGet(() -> new EnsembleMember(ensemble.memberId(), 0, "", 0, "", 0, false));
        RestoredCluster cluster = new RestoredCluster(
                UUID.randomUUID(), self, newDirectoryId(), state.term(), state.lastTimeMs(), state.featureLevel(), now);
        TreeState restored =
                RestoredState.of(state, cluster.clusterId(), generation, MemberList.of(cluster.configuration()));
        Optional<Path> made =
                secret.isNeeded() && secret.makeIfMissing() ? Optional.of(secret.path()) : Optional.empty();
        EnsembleLog.restore(RealDisk.in(directory), cluster, out -> SnapshotCodec.write(restored, out));
        return new Restored(restored, made);
    }

    private static long newDirectoryId() {
        long id = new SecureRandom().nextLong();
        return id == 0 ? 1 : id;
    }
}
