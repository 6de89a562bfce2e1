package io.conclave.barriers;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.line.Acquisition;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A barrier by which a number of processes begin together and end together: the double barrier of the ZooKeeper recipes
 * page.
 *
 * <pre>{@code
 * DoubleBarrier step = DoubleBarrier.at(coordinator, "/barriers/step", 20);
 * try (Participation participation = step.enter(Duration.ofMinutes(1))) {   // returns when all 20 are there
 *     compute();
 *     participation.leave(Duration.ofMinutes(1));                           // returns when all have left
 * }
 * }</pre>
 *
 * <p>To enter, a process asks whether {@code <path>/ready} is there, with a watch, makes an ephemeral znode of its own
 * and lists all of them. A participant that finds too few waits for the watch; one that finds enough makes
 * {@code ready}, which wakes all. To leave, the lowest waits for the highest to go, all others go and wait for the
 * lowest; so each deletion wakes one process, and only the last one all. A process that dies inside does not block the
 * others, because its znode goes with its session.
 *
 * <p>What this does beyond the page: {@code ready} is made in one transaction that holds only if all counted
 * participants are still there, and names them. So a participant that gave up is not counted, a late one does not slip
 * through, but belongs to the next round, and a {@code ready} that a dying process left behind lets no participant
 * through. The last one to leave deletes {@code ready} together with its own znode: the barrier can be entered again at
 * once. If more than the number come at the same moment, all of them go through together. A process that was killed and
 * started again within its session's timeout may be counted twice, as it has two znodes then.
 *
 * <p>Cost: four requests in one round trip to enter, one more when it opens; the participant that opens it sends a
 * transaction of as many checks as there are participants. To leave, two or three requests for each, and about two more
 * for each other participant by the lowest one. The barrier's own data is used to count the rounds. The znodes are laid
 * out as those of Curator's DistributedDoubleBarrier.
 *
 * <p>While the connection is away, entering and leaving wait; if the session is lost, they fail with
 * {@link io.conclave.error.SessionGoneException}, and the others go on without this process. Immutable and thread-safe;
 * making one costs nothing; every call of {@link #enter} is a participant of its own.
 */
public final class DoubleBarrier {
    private static final int MAX_PARTICIPANTS = 5_000;

    private final Coordinator coordinator;
    private final DoubleBarrierLayout layout;
    private final Supplier<String> names;

    /** With names of which none may come twice. */
    DoubleBarrier(Coordinator coordinator, DoubleBarrierLayout layout, Supplier<String> names) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.layout = layout;
        this.names = names;
    }

    /**
     * The double barrier at a path.
     *
     * @param participants how many must be there; the same for all users of the path
     * @throws IllegalArgumentException if the path or the number breaks a rule, naming it
     */
    public static DoubleBarrier at(Coordinator coordinator, String path, int participants) {
        return at(coordinator, NodePath.of(path), participants);
    }

    /** As {@link #at(Coordinator, String, int)}. */
    public static DoubleBarrier at(Coordinator coordinator, NodePath path, int participants) {
        RecipePaths.requireOwn(path, "a double barrier");
        if (participants < 1 || participants > MAX_PARTICIPANTS) {
            throw new IllegalArgumentException(
                    "Invalid number of participants " + participants + ": it must be from 1 to " + MAX_PARTICIPANTS);
        }
        return new DoubleBarrier(coordinator, new DoubleBarrierLayout(path, participants), () -> UUID.randomUUID()
                .toString());
    }

    /**
     * Waits without a limit of time until all are there.
     *
     * @throws InterruptedException if the thread is interrupted; nothing stays behind, unless the barrier opened at
     *     that moment: then the others went in and are not blocked
     * @throws io.conclave.error.SessionGoneException if the session is lost meanwhile
     * @throws io.conclave.error.GrantLostException if the participant's znode is deleted by another client
     * @throws io.conclave.error.ConclaveException if it cannot enter
     */
    public Participation enter() throws InterruptedException {
        return acquisition().await();
    }

    /**
     * As {@link #enter()}, with a limit of time. When that is over and there is a connection, the call goes on until
     * the store has confirmed that this participant is not counted any more, for a second at most. With a limit of zero
     * it enters if it is the last one to come.
     *
     * @throws io.conclave.error.WaitTimeoutException if the time is over; nothing stays behind
     * @throws io.conclave.error.NotConnectedException if the limit is zero and the store does not answer within the try
     *     timeout
     * @throws IllegalArgumentException if the timeout is negative
     */
    public Participation enter(Duration timeout) throws InterruptedException {
        return acquisition(Waiting.checkedTimeout(timeout)).await();
    }

    /**
     * Enters without blocking. Completes on a listener thread, with what {@link #enter()} gives or throws; cancelling
     * it leaves nothing behind.
     */
    public CompletableFuture<Participation> enterAsync() {
        return acquisition().stage(Participation::closeAsync);
    }

    /**
     * As {@link #enterAsync()}, with a limit of time after which it fails with
     * {@link io.conclave.error.WaitTimeoutException}; zero as in {@link #enter(Duration)}.
     */
    public CompletableFuture<Participation> enterAsync(Duration timeout) {
        return acquisition(Waiting.checkedTimeout(timeout)).stage(Participation::closeAsync);
    }

    private Acquisition<Participation> acquisition() {
        BarrierParticipant participant = begin();
        return Acquisition.of(participant, () -> new HeldParticipation(participant));
    }

    private Acquisition<Participation> acquisition(Duration timeout) {
        BarrierParticipant participant = begin();
        return Acquisition.of(participant, () -> new HeldParticipation(participant), timeout);
    }

    private BarrierParticipant begin() {
        return BarrierParticipant.enter(RecipeAccess.session(coordinator), layout, names.get());
    }

    /** The barrier's znode, in the coordinator's namespace. */
    public NodePath path() {
        return layout.path();
    }

    @Override
    public String toString() {
        return "DoubleBarrier[" + layout.path() + " of " + layout.participants() + ", " + coordinator + "]";
    }
}
