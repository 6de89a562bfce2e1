package io.conclave.server;

import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.RealDisk;
import io.conclave.consensus.ensemble.OfflineLog;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.RestoredCluster;
import io.conclave.replica.MemberList;
import io.conclave.time.TimeSource;
import io.conclave.tree.RestoredState;
import io.conclave.tree.SnapshotCodec;
import io.conclave.tree.TreeState;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Makes a new cluster from the state of an earlier one, in the empty directory of a server that does not run. Its
 * generation is greater than any that the earlier cluster has given, so no fencing token goes back.
 */
public final class ClusterRestore {
    /** What clients read has 18 digits at most. */
    private static final long MAX_GENERATION = 999_999_999_999_999_999L;

    private final Path directory;
    private final PeerSecretFile secret;
    private final RestoredCluster cluster;
    private final TreeState state;

    private ClusterRestore(Path directory, PeerSecretFile secret, RestoredCluster cluster, TreeState state) {
        this.directory = directory;
        this.secret = secret;
        this.cluster = cluster;
        this.state = state;
    }

    /**
     * Checks all that can be checked before anything is changed. Asks other servers, as far as they run, whether they
     * belong to a cluster: those that are listed, and those given. Blocks for some seconds at most for each.
     *
     * @param from the earlier cluster's state
     * @param others members that the configuration may not list
     * @param wanted the generation that the operator asks for; else it is the time, or one more than the state's
     * @throws LogException if another server belongs to a cluster, or the state needs a newer version
     * @throws IllegalArgumentException if the generation is not greater than the state's, or the server keeps no files
     * @throws ServerStartException if there is a secret that may not be used
     */
    public static ClusterRestore prepare(
            ServerConfig config,
            TreeState from,
            Map<Integer, EnsembleMember> others,
            OptionalLong wanted,
            TimeSource time) {
        Path directory = config.dataDirectory()
                .orElseThrow(() -> new IllegalArgumentException("a server in memory has nothing to restore into"));
        if (from.featureLevel() > ConclaveServer.FEATURE_LEVEL) {
            throw new LogException("the state uses feature level " + from.featureLevel()
                    + ", and this software understands " + ConclaveServer.FEATURE_LEVEL
                    + " at most: a newer version is needed here");
        }
        long now = time.wallMillis();
        long generation = wanted.orElse(Math.max(from.generation() + 1, now));
        if (generation > MAX_GENERATION) {
            throw new IllegalArgumentException(
                    "Invalid generation " + generation + ": it must be at most " + MAX_GENERATION);
        }
        EnsembleConfig ensemble = config.ensemble();
        EnsembleMember self =
                ensemble.self().orElseGet(() -> new EnsembleMember(ensemble.memberId(), 0, "", 0, "", 0, false));
        RestoredCluster cluster = new RestoredCluster(
                UUID.randomUUID(), self, newDirectoryId(), from.term(), from.lastTimeMs(), from.featureLevel(), now);
        TreeState state =
                RestoredState.of(from, cluster.clusterId(), generation, MemberList.of(cluster.configuration()));
        PeerSecretFile secret = PeerSecretFile.of(config);
        OfflineLog.requireNoCluster(
                all(ensemble, others),
                ensemble.memberId(),
                secret.readIfThere(),
                ensemble.tls().open(),
                "If that cluster serves, start this server: it is taken in. If it is to be given up, stop its servers"
                        + " first.");
        return new ClusterRestore(directory, secret, cluster, state);
    }

    private static Map<Integer, EnsembleMember> all(EnsembleConfig ensemble, Map<Integer, EnsembleMember> others) {
        Map<Integer, EnsembleMember> all = new TreeMap<>(others);
        all.putAll(ensemble.members());
        all.values().removeIf(member -> !member.hasAddress());
        return all;
    }

    private static long newDirectoryId() {
        long id = new SecureRandom().nextLong();
        return id == 0 ? 1 : id;
    }

    /** With what the new cluster begins. */
    public TreeState state() {
        return state;
    }

    /**
     * Makes the cluster, and its secret, if members are to have one and it is not there. Blocks until all is durable.
     *
     * @return the file of the secret, if one was made
     * @throws LogException if the directory is not empty, or in use, or cannot be written
     * @throws ServerStartException if no secret can be written
     */
    public Optional<Path> write() {
        Optional<Path> made =
                secret.isNeeded() && secret.makeIfMissing() ? Optional.of(secret.path()) : Optional.empty();
        OfflineLog.restore(RealDisk.in(directory), cluster, out -> SnapshotCodec.write(state, out));
        return made;
    }
}
