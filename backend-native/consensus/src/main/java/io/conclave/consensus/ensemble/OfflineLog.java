package io.conclave.consensus.ensemble;

import io.conclave.consensus.JoinToken;
import io.conclave.consensus.LogContents;
import io.conclave.consensus.LogException;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.PeerTls;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.RestoredCluster;
import io.conclave.consensus.member.OfflineRecovery;
import io.conclave.consensus.peer.ClusterProbe;
import io.conclave.consensus.peer.JoinClient;
import io.conclave.consensus.store.LogDirectory;
import io.conclave.consensus.store.RestoredLog;
import io.conclave.consensus.store.SingleSnapshot;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * What is done with the log of a member that does not run, and before one runs for the first time. All of it blocks for
 * as long as disks and other members take.
 */
public final class OfflineLog {
    private OfflineLog() {}

    /**
     * Sets the log in the directory aside, so that its member can come back without one and be taken in by the others.
     *
     * @return the names of the files that were set aside
     * @throws LogException if there is none, or it is in use
     */
    public static List<String> setAside(Disk disk) {
        return onDisk("the log in " + disk + " cannot be set aside", () -> LogDirectory.setAside(disk));
    }

    /**
     * Whether there is nothing in the directory: no log, none that was set aside, and nothing that is no log's. Blocks.
     *
     * @throws LogException if it cannot be read
     */
    public static boolean isEmpty(Disk disk) {
        return onDisk("the directory " + disk + " cannot be read", () -> LogDirectory.isEmpty(disk));
    }

    /**
     * Has the next start set the log in the directory aside; it may be in use. Durable on return.
     *
     * @param reason why, for who finds the files
     * @throws LogException if that cannot be written
     */
    public static void setAsideAtNextStart(Disk disk, String reason) {
        onDisk("the log in " + disk + " cannot be marked to be set aside", () -> LogDirectory.condemn(disk, reason));
    }

    /**
     * Counts the log in the directory, whose end was torn, as whole: its member's vote is complete again. Entries of
     * that moment that it had acknowledged are lost, if there were any and no reachable member has them.
     * If another member has claimed that the disk was set back, that claim is deleted instead.
     *
     * @return whether it was such a claim
     * @throws LogException if there is none, or its end was not torn, or it is in use
     */
    public static boolean trust(Disk disk) {
        return onDisk("the log in " + disk + " cannot be trusted", () -> LogDirectory.trust(disk));
    }

    /**
     * Makes the empty directory that of a new cluster whose log begins behind a given state, with one member and voter.
     * Blocks until it is durable.
     *
     * @throws LogException if the directory is not empty, or in use, or cannot be written
     */
    public static void restore(Disk disk, RestoredCluster cluster, StateSnapshot state) {
        onDisk("the log in " + disk + " cannot be made", () -> RestoredLog.write(disk, cluster, state));
    }

    /**
     * Recovers the log in the directory into the machine without touching it, the entries behind the committed ones
     * included. Blocks.
     *
     * @param featureLevel up to which the machine understands what is in the log
     * @throws LogException if there is none, it is in use, or damaged
     */
    public static LogContents read(Disk disk, int featureLevel, StateMachine machine) {
        return onDisk(
                "the log in " + disk + " cannot be read", () -> OfflineRecovery.read(disk, featureLevel, machine));
    }

    /**
     * Reads the file of one snapshot in the directory into the machine. Blocks.
     *
     * @throws LogException if it is damaged
     */
    public static void readSnapshot(Disk disk, String name, StateMachine machine) {
        onDisk(
                "the snapshot " + disk.describe(name) + " cannot be read",
                () -> SingleSnapshot.read(disk, name, machine));
    }

    /**
     * Asks the other members of a list, as far as they run, whether they belong to a cluster already. Blocks for some
     * seconds at most for each.
     *
     * @param advice what is to be done if one does, a sentence
     * @throws LogException if one does: a new cluster would take its addresses; or if one runs and does not tell, since
     *     this one has not the secret that it asks for
     */
    public static void requireNoCluster(
            Map<Integer, EnsembleMember> members, int self, PeerSecrets secrets, PeerTls tls, String advice) {
        for (EnsembleMember member : members.values()) {
            if (member.id() != self) {
                ClusterProbe.clusterOf(self, member, secrets, tls).ifPresent(cluster -> {
                    throw new LogException("server " + member.id() + " at " + member.host() + ":" + member.peerPort()
                            + " belongs to cluster " + cluster
                            + " already, so no new one is made here. " + advice);
                });
            }
        }
    }

    /**
     * Asks the member that has made a join token for the cluster's secrets, for a server that has none. Blocks for some
     * seconds at most.
     *
     * @param self the number of that server
     * @return the secrets, the present one first
     * @throws LogException if it does not give them; the message says why, and whether the token may be used up
     */
    public static List<byte[]> fetchSecrets(int self, EnsembleMember member, PeerTls tls, JoinToken token) {
        return JoinClient.fetch(self, member, tls, token);
    }

    private interface OnDisk<T> {
        T call() throws IOException;
    }

    private interface VoidOnDisk {
        void run() throws IOException;
    }

    private static <T> T onDisk(String problem, OnDisk<T> action) {
        try {
            return action.call();
        } catch (IOException e) {
            throw new LogException(problem + ": " + e, e);
        }
    }

    private static void onDisk(String problem, VoidOnDisk action) {
        onDisk(problem, () -> {
            action.run();
            return true;
        });
    }
}
