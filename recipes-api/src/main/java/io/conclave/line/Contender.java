package io.conclave.line;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.FencingToken;
import io.conclave.metrics.Ongoing;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.GuaranteedDelete;
import io.conclave.recovery.Retry;
import io.conclave.request.Delete;
import io.conclave.request.Multi;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One place in a line, from its creation to its deletion: the lock of the ZooKeeper recipes page, with the guid that
 * finds a znode again whose creation was not answered. Its {@link LineRole} says which name it has and which place it
 * waits for.
 *
 * <ol>
 *   <li>{@link Waiter} creates the znode {@code <line>/_c_<guid>-lock-}, and waits for the turn by the rule.
 *   <li>{@link OwnNode} watches the own znode, while the contender waits and when it has held for a moment: when the
 *       znode vanishes the contender fails, or its grant is lost.
 *   <li>A holder may go on in another role in the same place ({@link Downgrade}): a writer as a reader.
 *   <li>However it ends, the znode is deleted ({@link GuaranteedDelete}).
 * </ol>
 *
 * <p>What if a reply is lost? Of the creation: see {@link JointEntry}. Of a read: it is read again. Of the
 * deletion: see {@link GuaranteedDelete}. A grant is given only if the znode's owner is the present session.
 *
 * <p>Here are the states and every change of them; the parts report what they see. All state belongs to the session's
 * dispatcher; methods that others may call say so.
 */
public final class Contender extends AbstractGrantRequest {
    private final NodePath line;
    private final LineRole role;
    private final String guid;
    private final byte[] data;
    private final boolean patient;
    private final Optional<FencingToken> inheritedToken;
    private final OwnNode own;
    private final Obstacle obstacle;
    private final Waiter waiter;
    private final GuaranteedDelete deletion;
    private final GrantMeasurements measurements;
    private boolean turning;
    private @Nullable Downgrade downgrade; // the last one
    private volatile ContenderState state = ContenderState.ENTERING; // written on the dispatcher only
    private volatile @Nullable LossReason lossReason; // written before the state that it explains

    private Contender(
            RecipeSession session,
            NodePath line,
            LineRole role,
            String guid,
            byte[] data,
            boolean patient,
            Optional<FencingToken> inheritedToken) {
        super(session);
        this.line = line;
        this.role = role;
        this.guid = guid;
        this.data = data;
        this.patient = patient;
        this.inheritedToken = inheritedToken;
        this.own = new OwnNode(this);
        this.obstacle = new Obstacle(this);
        this.waiter = new Waiter(this, own, obstacle);
        this.deletion = new GuaranteedDelete(session, line, this::ours, gone);
        this.measurements = new GrantMeasurements(session, line, role.measuredAs());
    }

    /**
     * Enters a line. Never blocks.
     *
     * @param session the session that will own the place
     * @param line the line's znode; made if it is missing: of containers, in the layout of kazoo persistent
     * @param role as what it stands there
     * @param data what others see of the contender; not copied
     * @param patient false to leave it at once with {@link AcquireTimeoutException} if somebody must be waited for; a
     *     place of the same session that is being given up is nobody
     */
    public static Contender enter(RecipeSession session, NodePath line, LineRole role, byte[] data, boolean patient) {
        Contender contender = outside(session, line, role, data, patient);
        contender.measurements.waits();
        session.execute(contender::begin);
        return contender;
    }

    /**
     * As {@link #enter(RecipeSession, NodePath, LineRole, byte[], boolean)}, for a caller that holds a monitor: the
     * metrics hook is told on the dispatcher that the wait begins.
     */
    public static Contender enterWithinMonitor(
            RecipeSession session, NodePath line, LineRole role, byte[] data, boolean patient) {
        Contender contender = outside(session, line, role, data, patient);
        session.execute(contender::begin);
        return contender;
    }

    /** Enters a line as a part of something larger that the metrics hook was told of. Never blocks. */
    public static Contender enter(RecipeSession session, NodePath line, LineRole role, byte[] data, Ongoing cause) {
        Contender contender = outside(session, line, role, data, true);
        contender.measurements.progress().waits(contender.measurements.waitName(), cause);
        session.execute(contender::begin);
        return contender;
    }

    /** A contender that another brings into the line. */
    static Contender outside(RecipeSession session, NodePath line, LineRole role, byte[] data, boolean patient) {
        return new Contender(session, line, role, role.kind().newGuid(), data, patient, Optional.empty());
    }

    private void begin() {
        tie();
        measurements.waits();
        if (session.state().isLive()) {
            waiter.create();
        } else {
            sessionIs(session.state());
        }
    }

    /** We know our znode now; everything else may have ended meanwhile. */
    void take(NodePath path, NodeStat stat) {
        own.take(path, stat);
        deletion.found(List.of(path), stat.czxid());
        if (!state.isInLine()) {
            deletion.delete();
        } else if (stat.ephemeralOwner() != session.id()) {
            fail(new SessionGoneException(path + " belongs to the session 0x" + Long.toHexString(stat.ephemeralOwner())
                    + ", not to " + session));
        }
    }

    /** Somebody has to go first; whether the contender waits for that, or has left. */
    boolean mayWait() {
        if (!patient) {
            depart(timedOut(Duration.ZERO), LossReason.RELEASED);
            return false;
        }
        become(ContenderState.WAITING);
        mustWait.complete(null);
        own.watchUnlessWatched();
        return true;
    }

    /** It is our turn. */
    void grant() {
        if (session.remaining().isZero() || !own.mayBeHeld()) {
            return; // the session's loss, or the answer to the first read of the znode, is on its way here
        }
        become(ContenderState.HELD);
        own.watchInAMoment();
        measurements.granted();
        describeHold();
        tellGranted();
    }

    private void describeHold() {
        GrantProgress progress = measurements.progress();
        if (progress.isHeard()) {
            progress.detail(Ongoing.TOKEN, token().toString());
            path().ifPresent(znode -> progress.detail(Ongoing.ZNODE, znode.toString()));
        }
    }

    // So far the way to the grant. From here on the end of it, for any cause.

    /** Leaves the line, or gives the grant up: deletes the znode. */
    @Override
    protected void depart(ConclaveException why, LossReason reason) {
        depart(why, reason, GuaranteedDelete::delete);
    }

    /** @param onKnown deletes the znode, if it is known by now; else its answer has it deleted */
    void depart(ConclaveException why, LossReason reason, Consumer<GuaranteedDelete> onKnown) {
        if (!state.isInLine()) {
            return;
        }
        beginLeaving(why, reason);
        Downgrade current = downgrade;
        if (current != null && !current.isSettled()) {
            if (!current.isExchanging()) {
                deletion.search();
            } // else the exchange's answer finds us leaving
        } else if (!waiter.isCreating()) {
            onKnown.accept(deletion);
        } // else the creation's answer finds us leaving
        waiter.stop();
    }

    private void beginLeaving(ConclaveException why, LossReason reason) {
        leaveLine(ContenderState.LEAVING, reason, why);
        PendingDeletes.of(session).add(line, guid, gone);
        gone.thenRun(this::deleted);
    }

    private void deleted() {
        if (state == ContenderState.LEAVING) {
            become(ContenderState.GONE);
        }
        stopListening();
    }

    /** Nothing of us is left at the backend. */
    @Override
    protected void end(LossReason reason, ConclaveException why) {
        if (state == ContenderState.GONE) {
            return;
        }
        leaveLine(ContenderState.GONE, reason, why); // a listener that hears of the loss is not told that it is held
        deletion.nothingLeft();
        waiter.stop();
        stopListening();
    }

    private void leaveLine(ContenderState next, LossReason reason, ConclaveException why) {
        if (state == ContenderState.HELD) {
            lossReason = reason;
            become(next);
            measurements.noLongerHeld(reason);
            tellLost("the grant of " + line + " (place " + place() + ")", reason);
        } else {
            become(next);
            measurements.notGranted(why, reason);
            tellFailed(why);
        }
    }

    /** The znode is not there any more, or not ours. */
    void vanished() {
        if (!state.isInLine() || isBeingDowngraded()) {
            return; // a znode that is being exchanged vanishes; whether that was all the exchange knows
        }
        if (sessionMayHaveEnded()) {
            sessionIs(SessionState.LOST);
        } else if (turning) {
            turned(); // by our own transaction, whose answer is on its way, or else it says that there was no place
        } else if (isAskedToGiveUp()) {
            vanished(LossReason.REVOKED, "Revoked while " + describe());
        } else {
            vanished(LossReason.NODE_DELETED, "The znode was deleted by another client while " + describe());
        }
    }

    private void vanished(LossReason reason, String message) {
        end(reason, new GrantLostException(reason, line.toString(), message));
    }

    private void become(ContenderState next) {
        ContenderState previous = state;
        if (!previous.mayBecome(next)) {
            throw new IllegalStateException(this + " cannot go from " + previous + " to " + next);
        }
        state = next;
    }

    // What a holder does with its place besides giving it up.

    /**
     * Gives the place up as {@link #leave} does, and has another znode deleted in the same transaction. On the
     * dispatcher. One that holds no more does nothing but tell so.
     *
     * @param onDeleted told when the other znode is deleted
     * @param onNotDeleted told if it may not be; the place goes alone then
     */
    public void leaveWith(Delete other, Runnable onDeleted, Runnable onNotDeleted, ConclaveException why) {
        if (state != ContenderState.HELD || isBeingDowngraded()) {
            onNotDeleted.run();
            depart(why, LossReason.RELEASED);
            return;
        }
        beginLeaving(why, LossReason.RELEASED);
        deletion.deleteWith(other, onDeleted, onNotDeleted);
    }

    /**
     * Sends a transaction that deletes the place among other things, as when a semaphore turns it into leases. Once it
     * has taken effect the place is given up, which is no loss. To be called on the dispatcher while the place is held;
     * after an unknown outcome and when the place is still there it may be called again.
     *
     * @param onFailure is given one of the kinds of failure (see {@link io.conclave.error})
     */
    public void turnInto(Multi multi, Consumer<List<Multi.Result>> onTurned, Consumer<Throwable> onFailure) {
        turning = true;
        send(
                multi,
                results -> {
                    turned();
                    onTurned.accept(results);
                },
                cause -> {
                    turning = cause instanceof OutcomeUnknownException; // then a znode that has gone is still no loss
                    onFailure.accept(cause);
                });
    }

    private void turned() {
        end(LossReason.RELEASED, new ClosedException("Turned into something else while " + describe()));
    }

    /** The znode is about to be exchanged for another. */
    void beginDowngrade(Downgrade beginning) {
        downgrade = beginning;
    }

    /** Whether the znode is being exchanged for another. */
    boolean isBeingDowngraded() {
        Downgrade current = downgrade;
        return current != null && !current.isSettled();
    }

    /** Our znode is this one now, and we are its contender no more. */
    Contender downgradedTo(LineRole next, NodePath path, NodeStat stat) {
        Contender successor = new Contender(session, line, next, guid, data, patient, Optional.of(token()));
        successor.takeOver(path, stat);
        end(LossReason.RELEASED, new ClosedException("Goes on as " + successor));
        return successor;
    }

    private void takeOver(NodePath path, NodeStat stat) {
        tie();
        become(ContenderState.HELD);
        measurements.tookOver();
        tellGranted();
        take(path, stat);
        own.watch();
        describeHold();
    }

    /** The word that asks for it stands in our znode. */
    void askedToGiveUp() {
        if (state.isInLine()) {
            tellAskedToGiveUp();
        }
    }

    // What others may ask.

    /** The line's path. Any thread. */
    @Override
    public String what() {
        return line.toString();
    }

    /** With the one at the head of the line, which holds. Any thread. */
    @Override
    public AcquireTimeoutException timedOut(Duration waited) {
        return obstacle.timedOut(waited);
    }

    /** Who or what is in the way. Any thread. */
    public String whyNotGranted() {
        return obstacle.whyNotGranted();
    }

    /** Reads who is at the head of the line, unless that is known. Any thread. */
    @Override
    public void timeIsRunningOut() {
        session.execute(() -> guarded(obstacle::findHolder));
    }

    @Override
    public void watchForLoss() {
        session.execute(own::watchHold);
    }

    @Override
    public Optional<LossReason> lossReason() {
        return Optional.ofNullable(lossReason);
    }

    /**
     * The fencing token of a granted place; one that goes on in another's place ({@link Downgrade}) keeps its token.
     * Any thread.
     */
    public FencingToken token() {
        if (inheritedToken.isPresent()) {
            return inheritedToken.get();
        }
        long czxid = own.znode()
                .orElseThrow(() -> new IllegalStateException("A contender has no token before it has a place: " + this))
                .czxid();
        return new FencingToken(session.generation(), czxid);
    }

    /** The path of the contender's znode, once it has one. Any thread. */
    public Optional<NodePath> path() {
        return own.znode().map(OwnNode.Znode::path);
    }

    @Override
    protected boolean isHeld() {
        return state == ContenderState.HELD;
    }

    boolean isInLine() {
        return state.isInLine();
    }

    boolean isBeforeGrant() {
        return state == ContenderState.ENTERING || state == ContenderState.WAITING;
    }

    boolean isWaiting() {
        return state == ContenderState.WAITING;
    }

    /** Whether it waits for others. */
    boolean isPatient() {
        return patient;
    }

    NodePath line() {
        return line;
    }

    LineRole role() {
        return role;
    }

    String guid() {
        return guid;
    }

    byte[] data() {
        return data;
    }

    Waiter waiter() {
        return waiter;
    }

    OwnNode ownNode() {
        return own;
    }

    GuaranteedDelete deletion() {
        return deletion;
    }

    GrantMeasurements measurements() {
        return measurements;
    }

    /** Our place among the names in the line, after a lost reply; of a creation that was sent twice the first one. */
    Optional<NodePath> placeAmong(List<String> names) {
        List<NodePath> ours = placesOf(Set.of(role.kind()), names);
        ours.stream().skip(1).forEach(surplus -> Retry.deleteUntilGone(session, surplus, () -> {}));
        return ours.stream().findFirst();
    }

    /** The places of our guid, of whatever kind. */
    private List<NodePath> ours(List<String> names) {
        return placesOf(role.line(), names);
    }

    private List<NodePath> placesOf(Set<EntryKind> kinds, List<String> names) {
        return LineEntry.of(guid, kinds, names).stream()
                .map(entry -> line.child(entry.name()))
                .toList();
    }

    /** The znode's name; its guid as long as it has none. */
    private String place() {
        return own.znode().map(znode -> znode.path().name()).orElse(guid);
    }

    @Override
    protected String describe() {
        return (isHeld() ? "holding " : "waiting for ") + line + " as " + guid;
    }

    @Override
    public String toString() {
        return line + " (place " + place() + ", " + state + ")";
    }
}
