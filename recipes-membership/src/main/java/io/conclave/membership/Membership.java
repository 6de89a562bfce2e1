package io.conclave.membership;

import io.conclave.error.LossReason;
import io.conclave.grant.FencingToken;
import io.conclave.node.NodePath;
import io.conclave.session.Registration;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A place in a group, until it is closed or its znode is deleted. Thread-safe.
 *
 * <p>When the session is lost the place goes with it, and the member joins again by itself on the coordinator's next
 * session, with its latest payload and a new token; its old place has gone when that one is connected. While the
 * connection is away nothing changes: others see the member until its session ends.
 *
 * <p>A place that another client deletes is not taken again ({@link LossReason#NODE_DELETED}): so a group can be
 * deleted, and a member thrown out.
 *
 * @param <P> the type of the payload
 */
public interface Membership<P> extends AutoCloseable {
    /** What the member is called in the group. */
    String id();

    /** The member's znode, in the coordinator's namespace. */
    NodePath path();

    /** Where the membership stands now. Never blocks. */
    MembershipState state();

    /** Whether others surely see the member now: it is in the group, and the session has not run out. Never blocks. */
    default boolean isMember() {
        return !remaining().isZero();
    }

    /**
     * How long others surely see the member from now if nothing more is heard of the server; zero if it is not in the
     * group. Never blocks.
     */
    Duration remaining();

    /**
     * The token of the present place in the group; another one after it was joined again. Empty if it is not in the
     * group.
     */
    Optional<FencingToken> token();

    /**
     * Changes the payload and waits until it is written. If the member is joining again, it joins with it.
     *
     * @throws io.conclave.error.GrantLostException if the membership has ended
     * @throws io.conclave.error.RefusedException if the backend does not take it: it is too large, say; the one before
     *     stands
     * @throws InterruptedException if the thread is interrupted; it may be written anyway
     */
    void update(P payload) throws InterruptedException;

    /**
     * As {@link #update}, without blocking. Completes on a listener thread when this payload or a later one is written.
     * Updates that follow each other quickly may be written as one, the latest.
     */
    CompletableFuture<Void> updateAsync(P payload);

    /** Tells a listener of every later change of state; it is called serially on a listener thread and may block. */
    Registration onStateChange(Consumer<? super MembershipState> listener);

    /**
     * Completes with the reason when the membership has ended; never exceptionally. A lost session does not end it. Its
     * continuations run on a listener thread and may block.
     */
    CompletableFuture<LossReason> ended();

    /** Leaves the group. The same as {@link #close()}. */
    default void leave() {
        close();
    }

    /**
     * Leaves the group. Idempotent. Waits for the backend's confirmation, at most for what remains of the session;
     * without one the deletion goes on in the background until the session is gone. Never throws for a lost connection,
     * and ignores interrupts (the thread's flag is kept).
     */
    @Override
    void close();

    /**
     * Leaves the group without waiting. Completes on a listener thread when the backend has confirmed it or the session
     * is gone; never exceptionally.
     */
    CompletableFuture<Void> closeAsync();
}
