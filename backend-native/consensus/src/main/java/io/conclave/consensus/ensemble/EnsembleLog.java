package io.conclave.consensus.ensemble;

import io.conclave.consensus.LogException;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.PeerCounts;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.member.CoreFactory;
import io.conclave.consensus.member.MemberLoop;
import io.conclave.consensus.member.StoreFactory;
import io.conclave.consensus.store.FileStore;
import io.conclave.consensus.store.MemoryLogStore;
import java.security.SecureRandom;
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
