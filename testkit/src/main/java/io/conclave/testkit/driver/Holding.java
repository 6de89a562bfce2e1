package io.conclave.testkit.driver;

import io.conclave.error.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Something that an actor holds, from the moment when it was granted; the driver watches that no other actor holds what
 * excludes it.
 *
 * <p>Thread-safe. {@link #release} ends it; the shorter way is {@link Actor#hold}.
 */
public final class Holding {
    /** What a holding excludes. */
    public enum Kind {
        /** Everybody else on the same resource. */
        EXCLUSIVE,
        /** Exclusive holders. */
        SHARED,
        /** Exclusive holders, and more permits than there are: see {@link FaultDriver#permits}. */
        PERMIT
    }

    private final FaultRun run;
    private final Actor actor;
    private final String name;
    private final String resource;
    private final HeldClaim claim;
    private final int weight;
    private volatile Kind kind;
    private volatile boolean checksZnode;

    Holding(FaultRun run, Actor actor, String name, String resource, Kind kind, HeldClaim claim, int weight) {
        this.run = run;
        this.actor = actor;
        this.name = name;
        this.resource = resource;
        this.kind = kind;
        this.claim = claim;
        this.weight = weight;
        this.checksZnode = claim.token().isPresent();
    }

    Actor actor() {
        return actor;
    }

    String name() {
        return name;
    }

    String resource() {
        return resource;
    }

    Kind kind() {
        return kind;
    }

    int weight() {
        return weight;
    }

    HeldClaim claim() {
        return claim;
    }

    boolean isHeld() {
        return !claim.remaining().isZero();
    }

    boolean isOf(long czxid) {
        return claim.token().filter(token -> token.sequence() == czxid).isPresent();
    }

    /**
     * It is held in another way from now on, as after a downgrade. The znode is no longer looked for by the token's
     * zxid.
     */
    public void becomes(Kind next) {
        checksZnode = false;
        run.holdings().becomes(this, () -> kind = next);
    }

    /**
     * It does not exclude others any more, for a reason of the scenario's own: call this right before a revoker deletes
     * its znode, say.
     */
    public void ends() {
        run.holdings().lost(this);
    }

    /**
     * An actor that holds at rest has a znode: reports a violation if it says that it is held, and the znode that its
     * token names is gone. Blocks.
     */
    void checkAtRest() {
        for (int looks = 0; saysHeldWithoutZnode(); looks++) {
            if (looks == 3) {
                run.violated(name + " says that it holds " + claim + " for another " + claim.remaining()
                        + ", but its znode is gone");
                return;
            }
            run.untilAtRestUninterruptibly();
            run.pauseUninterruptibly(Duration.ofMillis(50));
        }
    }

    private boolean saysHeldWithoutZnode() {
        return checksZnode
                && isHeld()
                && actor.isConnected()
                && !run.isAway(actor)
                && run.store().snapshot().values().stream().noneMatch(stat -> isOf(stat.czxid()));
    }

    /**
     * Gives it back, and checks what the claim says of its end: the reason must be one that the faults explain. Blocks
     * until the reason is known; ignores interrupts.
     */
    public void release() {
        boolean held = isHeld();
        run.holdings().released(this);
        boolean interrupted = Thread.currentThread().isInterrupted();
        try {
            claim.close();
        } catch (RuntimeException e) {
            run.violated(name + ": close() of " + claim + " threw " + e);
        }
        if (interrupted && !Thread.currentThread().isInterrupted()) {
            run.violated(name + ": close() of " + claim + " swallowed the thread's interrupt");
        }
        LossReason reason = reason();
        if (isHeld()) {
            run.violated(name + ": " + claim + " is held after close()");
        }
        if (reason == LossReason.RELEASED && !held) {
            run.violated(name + ": " + claim + " was lost before its release, and says RELEASED");
        } else if (reason != LossReason.RELEASED && !actor.isExplained(reason)) {
            run.violated(name + ": " + claim + " was lost for no reason: " + reason);
        }
    }

    private LossReason reason() {
        CompletableFuture<LossReason> lost = claim.lost().toCompletableFuture();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return lost.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException e) {
            throw new AssertionError(name + ": lost() of " + claim + " failed", e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String toString() {
        return name + " (" + kind + (resource.isEmpty() ? "" : " of " + resource) + ", " + claim + ")";
    }
}
