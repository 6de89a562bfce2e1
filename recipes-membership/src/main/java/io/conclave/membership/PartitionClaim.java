package io.conclave.membership;

import io.conclave.error.ClosedException;
import io.conclave.error.LossReason;
import io.conclave.line.Contender;
import io.conclave.line.LineRole;
import io.conclave.recipe.Waiting;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A member's claim to one partition during one session: a place in the partition's line, which is a mutex. So the next
 * member gets it when the one before has left the line, which it does when its listener has returned.
 *
 * <p>State belongs to the share's queue.
 */
final class PartitionClaim {
    private static final LineRole PLACE = LineRole.mutex("partition");

    private final HeldShare share;
    private final String partition;
    private final Executor callbacks;
    private @Nullable Contender contender;
    private @Nullable HeldPartition held;
    private boolean isLeaving;

    PartitionClaim(HeldShare share, String partition, Executor callbacks) {
        this.share = share;
        this.partition = partition;
        this.callbacks = callbacks;
    }

    /** Enters the line. */
    void begin() {
        Contender place = Contender.enter(
                share.session(), share.line(partition), PLACE, share.id().getBytes(StandardCharsets.UTF_8), true);
        contender = place;
        place.granted()
                .whenComplete((turn, failure) -> share.execute(() -> {
                    if (failure == null) {
                        onGranted(place);
                    } else if (!isLeaving) {
                        place.gone().thenRun(() -> share.onFailed(this, partition, Waiting.cause(failure)));
                    }
                }));
        place.lost().thenAccept(reason -> share.execute(() -> onLost(place, reason)));
    }

    private void onGranted(Contender place) {
        if (isLeaving) {
            return; // it leaves the line already
        }
        HeldPartition grant = new HeldPartition(place, partition);
        held = grant;
        share.onHeld(partition, grant);
        callbacks.execute(() -> share.listener().acquired(grant));
    }

    private void onLost(Contender place, LossReason reason) {
        if (isLeaving) {
            return;
        }
        isLeaving = true;
        HeldPartition grant = held;
        if (grant != null) {
            share.onHeldNoMore(partition, grant);
            callbacks.execute(() -> share.listener().released(grant, reason));
        }
        callbacks.execute(() -> place.gone().thenRun(() -> share.onEnded(this, partition, reason)));
    }

    /**
     * Gives the partition back, when the listener has returned; or leaves the line. Idempotent. What is lost before the
     * listener is called is told as lost.
     */
    void leave() {
        Contender place = contender;
        if (isLeaving || place == null) {
            return;
        }
        isLeaving = true;
        HeldPartition grant = held;
        if (grant != null) {
            callbacks.execute(() -> {
                LossReason reason = whyItEnds(place);
                boolean isDue = reason == LossReason.RELEASED && !grant.isHeld(); // the session's time is over
                try {
                    share.listener().released(grant, isDue ? LossReason.SESSION_LOST : reason);
                } finally {
                    share.onHeldNoMore(partition, grant);
                }
            });
        }
        callbacks.execute(() -> place.leave(new ClosedException(partition + " is not assigned to " + share.id()))
                .thenRun(() -> share.onEnded(this, partition, whyItEnds(place))));
    }

    /** Others may know of the end of the session before the place does. */
    private static LossReason whyItEnds(Contender place) {
        return place.lossReason().orElseGet(() -> switch (place.session().state()) {
            case LOST -> LossReason.SESSION_LOST;
            case CLOSED -> LossReason.COORDINATOR_CLOSED;
            default -> LossReason.RELEASED;
        });
    }
}
