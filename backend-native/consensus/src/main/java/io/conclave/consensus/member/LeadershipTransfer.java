package io.conclave.consensus.member;

import io.conclave.consensus.LogException;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.CoreRole;
import io.conclave.consensus.core.CoreStatus;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Leadership on its way to another member: for an operator, before this member ends, or since its disk is full. */
final class LeadershipTransfer {
    private final long electionTimeoutMs;
    private @Nullable CompletableFuture<@Nullable Void> done;
    private int wanted;
    private long deadlineMs;

    /** Before that a full disk is no reason again. */
    private long nextForRoomMs;

    private boolean begunBeforeEnd;

    LeadershipTransfer(long electionTimeoutMs) {
        this.electionTimeoutMs = electionTimeoutMs;
    }

    /** Begins it; refused at once if this member does not lead or another one is under way. */
    void begin(Core core, long nowMs, int to, CompletableFuture<@Nullable Void> newDone) {
        CoreStatus status = core.status();
        if (status.role() != CoreRole.LEADER) {
            newDone.completeExceptionally(MembershipKeeper.notLeading(status));
        } else if (done != null) {
            newDone.completeExceptionally(new LogException("a leadership transfer is under way already"));
        } else if (to != 0
                && (to == status.leader() || !status.configuration().voters().contains(to))) {
            newDone.completeExceptionally(new LogException("leadership cannot go to member " + to + "; voters are "
                    + status.configuration().voters() + ", and member " + status.leader() + " leads"));
        } else if (status.configuration().voters().size() < 2) {
            newDone.completeExceptionally(new LogException("there is no other voter to transfer leadership to"));
        } else {
            start(core, nowMs, to, newDone);
        }
    }

    /** Another member may have room; one that has none does not stand for election. Returns whether it was tried. */
    boolean beginForRoom(Core core, long nowMs) {
        if (nowMs < nextForRoomMs || isRunning()) {
            return false;
        }
        nextForRoomMs = nowMs + 10 * electionTimeoutMs;
        begin(core, nowMs, 0, new CompletableFuture<>());
        return true;
    }

    /** Whether that was tried of late, so that it is not tried again yet. */
    boolean wasTriedForRoom(long nowMs) {
        return nowMs < nextForRoomMs;
    }

    /** Tried once. */
    void beginBeforeEnd(Core core, long nowMs) {
        if (!begunBeforeEnd) {
            begunBeforeEnd = true;
            begin(core, nowMs, 0, new CompletableFuture<>());
        }
    }

    private void start(Core core, long nowMs, int to, CompletableFuture<@Nullable Void> newDone) {
        if (!core.transfer(nowMs, to)) {
            newDone.completeExceptionally(
                    new LogException("there is no link to " + (to == 0 ? "any other voter" : "member " + to)));
            return;
        }
        done = newDone;
        wanted = to;
        deadlineMs = nowMs + 2 * electionTimeoutMs;
    }

    /** Looks whether it has come to an end. */
    void look(int self, CoreStatus status, long nowMs) {
        CompletableFuture<@Nullable Void> pending = done;
        if (pending == null) {
            return;
        }
        boolean leads = status.role() == CoreRole.LEADER;
        int leader = status.leader();
        if (!leads && leader != 0 && leader != self) {
            done = null;
            if (wanted == 0 || wanted == leader) {
                pending.complete(null);
            } else {
                pending.completeExceptionally(
                        new LogException("member " + leader + " leads now, and not member " + wanted));
            }
        } else if (nowMs >= deadlineMs) {
            done = null;
            pending.completeExceptionally(new LogException(
                    leads
                            ? "no other member took over leadership in time"
                            : "no leader is elected yet after the transfer"));
        }
    }

    boolean isRunning() {
        return done != null;
    }

    long deadlineMs() {
        return done == null ? Long.MAX_VALUE : deadlineMs;
    }

    void abandon() {
        if (done != null) {
            done.completeExceptionally(new LogException("the log has ended"));
            done = null;
        }
    }
}
