package io.conclave.election;

import io.conclave.grant.FencedGrant;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Leadership that is held, until it is closed, which resigns, or lost.
 *
 * <p>What a leader writes elsewhere should carry {@link #token()} and be refused by the store if a larger one has been
 * seen there: no election can stop a process that sleeps past the end of its session from waking up later.
 */
public interface Leadership extends FencedGrant {
    /**
     * Resigns: the next candidate leads. The same as {@link #close()}.
     */
    default void resign() {
        close();
    }

    /** Resigns without waiting. The same as {@link #closeAsync()}. */
    default CompletableFuture<Void> resignAsync() {
        return closeAsync();
    }

    /**
     * Completes when another client asks the leader to resign, by the word {@code unlock} in its znode; it need not.
     * Not at all if there is no request, never exceptionally. Its continuations run on the coordinator's listener
     * threads and may block.
     */
    CompletableFuture<Void> revocationRequested();

    /**
     * Changes the data that {@link LeaderElection#leader} and observers see of this leader, and waits until it is
     * written. Updates are written in the order of the calls. The data in {@link LeaderElection#candidates} stays as it
     * was, and so does that of the next campaign.
     *
     * <p>Only the present leader writes: a leader that was replaced never overwrites the data of its successor, however
     * late its request arrives. While the connection is away the call waits, until the session is lost at the latest.
     *
     * @throws io.conclave.error.GrantLostException if the leadership ends before
     * @throws io.conclave.error.RefusedException if the backend does not take the data: it is too large, say; the data
     *     before it stands
     * @throws InterruptedException if the thread is interrupted; it may be written anyway
     */
    void update(byte[] data) throws InterruptedException;

    /** As {@link #update}, without blocking. Completes on a listener thread; cancelling it does not stop it. */
    CompletableFuture<Void> updateAsync(byte[] data);

    /**
     * Hands over to a candidate, as {@link #handOver(Candidate, Duration)} without a limit of time.
     *
     * @throws TransferFailedException if the candidate has gone; the leader stays leader
     * @throws io.conclave.error.GrantLostException if the leadership ends meanwhile
     * @throws InterruptedException if the thread is interrupted; the leader stays leader unless its resignation was
     *     under way, which {@link #lost()} tells
     */
    void handOver(Candidate candidate) throws InterruptedException;

    /**
     * Hands over to a candidate: those between it and the leader are asked to step back, by a word in their znodes, and
     * when it is the next one the leader resigns. A candidate that steps back enters the line again at its end, as part
     * of the same campaign. Returns when the resignation is confirmed; the successor may not have acknowledged yet.
     * Should the successor go in that very moment, the one behind it leads.
     *
     * <p>Candidates of other libraries, and of programs without WRITE on each other's znodes, do not step back. Then
     * the hand-over fails, those that were asked and are still there get their data back, and the leader stays leader;
     * a candidate that has stepped back by then stays where it is now.
     *
     * @param timeout how long those in between may take; with a limit of zero nobody is asked, and the candidate must
     *     be next
     * @throws TransferFailedException if the candidate has gone, or if it is not next when the time is over, naming the
     *     candidates that stand in the way; the leader stays leader
     * @throws io.conclave.error.NotConnectedException if the limit is zero and the store does not answer within the try
     *     timeout; likewise
     * @throws IllegalArgumentException if the timeout is negative
     * @throws io.conclave.error.GrantLostException if the leadership ends meanwhile
     * @throws InterruptedException if the thread is interrupted; the leader stays leader unless its resignation was
     *     under way, which {@link #lost()} tells
     */
    void handOver(Candidate candidate, Duration timeout) throws InterruptedException;

    /**
     * As {@link #handOver(Candidate)}, without blocking. Completes on a listener thread; cancelling it gives the
     * hand-over up.
     */
    CompletableFuture<Void> handOverAsync(Candidate candidate);

    /**
     * As {@link #handOver(Candidate, Duration)}, without blocking. Completes on a listener thread; cancelling it gives
     * the hand-over up.
     */
    CompletableFuture<Void> handOverAsync(Candidate candidate, Duration timeout);
}
