package io.conclave.consensus.ensemble;

import io.conclave.consensus.JoinToken;
import io.conclave.consensus.LogContents;
import io.conclave.consensus.LogException;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.PeerCounts;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.PeerTls;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.RestoredCluster;
import io.conclave.consensus.member.CoreFactory;
import io.conclave.consensus.member.MemberLoop;
import io.conclave.consensus.member.OfflineRecovery;
import io.conclave.consensus.member.StoreFactory;
import io.conclave.consensus.peer.ClusterProbe;
import io.conclave.consensus.peer.JoinClient;
import io.conclave.consensus.store.FileStore;
import io.conclave.consensus.store.LogDirectory;
import io.conclave.consensus.store.MemoryLogStore;
import io.conclave.consensus.store.RestoredLog;
import io.conclave.consensus.store.SingleSnapshot;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The log of one member of an ensemble, in a directory or in memory. Without other members listed it has a thread of
 * its own and opens no port; else it shares the one of its links.
 */
public final class EnsembleLog implements ReplicatedLog {
    private final LogOptions options;
    private final MemberThread thread;
    private final MemberLoop member;
    private final AtomicBoolean started = new AtomicBoolean();
    private volatile boolean closedUnused;

    private EnsembleLog(LogOptions options, StoreFactory stores) {
        this(options, stores, options.members().isEmpty() ? new OwnThread(options) : new PeerThread(options));
    }

    private EnsembleLog(LogOptions options, StoreFactory stores, MemberThread thread) {
        this.options = options;
        this.thread = thread;
        this.member = new MemberLoop(
                options, stores, CoreFactory.RAFT, thread.links(), new SecureRandom()::nextLong, thread::wake);
    }

    /** A durable log in the given directory; nothing is touched before {@link #start}. */
    public static EnsembleLog on(Disk disk, LogOptions options) {
        return new EnsembleLog(options, toMember -> FileStore.open(disk, options, toMember::accept));
    }

    /** A log that forgets everything when it is closed. A member that comes back is taken in again by the others. */
    public static EnsembleLog inMemory(LogOptions options) {
        return new EnsembleLog(options, toMember -> new MemoryLogStore(options, toMember::accept));
    }

    /**
     * The same of a member that is alone and has no thread of its own.
     *
     * @param thread runs one task at a time, until the log is closed; that must not be called on it
     */
    public static EnsembleLog inMemory(LogOptions options, Executor thread) {
        if (!options.members().isEmpty()) {
            throw new IllegalArgumentException("only a member without others can share a thread");
        }
        return new EnsembleLog(
                options, toMember -> new MemoryLogStore(options, toMember::accept), new SharedThread(options, thread));
    }

    /**
     * Sets the log in the directory aside, so that its member can come back without one and be taken in by the others.
     *
     * @return the names of the files that were set aside
     * @throws LogException if there is none, or it is in use
     */
    public static List<String> setAside(Disk disk) {
        try {
            return LogDirectory.setAside(disk);
        } catch (IOException e) {
            throw new LogException("the log in " + disk + " cannot be set aside: " + e, e);
        }
    }

    /**
     * Whether there is nothing in the directory: no log, none that was set aside, and nothing that is no log's. Blocks.
     *
     * @throws LogException if it cannot be read
     */
    public static boolean isEmpty(Disk disk) {
        try {
            return LogDirectory.isEmpty(disk);
        } catch (IOException e) {
            throw new LogException("the directory " + disk + " cannot be read: " + e, e);
        }
    }

    /**
     * Has the next start set the log in the directory aside; it may be in use. Durable on return.
     *
     * @param reason why, for who finds the files
     * @throws LogException if that cannot be written
     */
    public static void setAsideAtNextStart(Disk disk, String reason) {
        try {
            LogDirectory.condemn(disk, reason);
        } catch (IOException e) {
            throw new LogException("the log in " + disk + " cannot be marked to be set aside: " + e, e);
        }
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
        try {
            return LogDirectory.trust(disk);
        } catch (IOException e) {
            throw new LogException("the log in " + disk + " cannot be trusted: " + e, e);
        }
    }

    /**
     * Makes the empty directory that of a new cluster whose log begins behind a given state, with one member and voter.
     * Blocks until it is durable.
     *
     * @throws LogException if the directory is not empty, or in use, or cannot be written
     */
    public static void restore(Disk disk, RestoredCluster cluster, StateSnapshot state) {
        try {
            RestoredLog.write(disk, cluster, state);
        } catch (IOException e) {
            throw new LogException("the log in " + disk + " cannot be made: " + e, e);
        }
    }

    /**
     * Recovers the log in the directory into the machine without touching it, the entries behind the committed ones
     * included. Blocks.
     *
     * @param featureLevel up to which the machine understands what is in the log
     * @throws LogException if there is none, it is in use, or damaged
     */
    public static LogContents read(Disk disk, int featureLevel, StateMachine machine) {
        try {
            return OfflineRecovery.read(disk, featureLevel, machine);
        } catch (IOException e) {
            throw new LogException("the log in " + disk + " cannot be read: " + e, e);
        }
    }

    /**
     * Reads the file of one snapshot in the directory into the machine. Blocks.
     *
     * @throws LogException if it is damaged
     */
    public static void readSnapshot(Disk disk, String name, StateMachine machine) {
        try {
            SingleSnapshot.read(disk, name, machine);
        } catch (IOException e) {
            throw new LogException("the snapshot " + disk.describe(name) + " cannot be read: " + e, e);
        }
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

    @Override
    public void start(StateMachine machine, LogListener listener) {
        if (!started.compareAndSet(false, true)) {
            throw new IllegalStateException("the log was started or closed before");
        }
        thread.begin(member, () -> member.start(machine, listener));
        try {
            join(member.recovered());
            thread.open();
            join(member.ready());
        } catch (RuntimeException e) {
            member.beginClosing();
            join(member.ended());
            thread.close();
            throw e;
        }
    }

    private static void join(CompletionStage<@Nullable Void> stage) {
        try {
            stage.toCompletableFuture().join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof LogException cause ? cause : new LogException(e.toString(), e);
        }
    }

    @Override
    public boolean propose(Proposal proposal) {
        return member.propose(proposal);
    }

    @Override
    public boolean readBarrier(Runnable action) {
        return member.readBarrier(action);
    }

    @Override
    public boolean readIndex(byte[] note, Runnable action) {
        return member.readIndex(note, action);
    }

    @Override
    public void tell(int to, byte[] note) {
        member.tell(to, note);
    }

    @Override
    public CompletionStage<Long> change(MembershipChange change, long knownIndex) {
        return member.change(change, knownIndex);
    }

    @Override
    public CompletionStage<@Nullable Void> transferLeadership(int to) {
        return member.transferLeadership(to);
    }

    @Override
    public LogStatus status() {
        return closedUnused ? LogStatus.idle(options.memberId(), LogRole.CLOSED) : member.status();
    }

    @Override
    public PeerCounts peerCounts() {
        return thread.peerCounts();
    }

    @Override
    public void execute(Runnable action) {
        thread.execute(action);
    }

    @Override
    public void abandon() {
        member.abandon();
    }

    @Override
    public void close() {
        if (thread.isCurrent()) {
            throw new IllegalStateException("close() must not be called on the log's own thread");
        }
        if (started.compareAndSet(false, true)) {
            closedUnused = true;
        } else {
            member.beginClosing();
            join(member.ended());
        }
        thread.close();
    }
}
