package io.conclave.line;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.FencingToken;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.GuaranteedDelete;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One place in a line, from its creation to its deletion: the lock of the ZooKeeper recipes page, with the guid that finds a znode
 * again whose creation was not answered. Its {@link LineRole} says which name it has and which place it waits for.
 *
 * <p>How it goes:
 *
 * <ol>
 *   <li>Create {@code <line>/_c_<guid>-lock-}, ephemeral and sequential, and list the line right behind it.
 *   <li>Our turn by the rule: granted. Otherwise watch the place that the rule names, and only that: one deletion wakes one contender.
 *   <li>When it has gone, list the line again. That list is spared only if it was the head of a line of one kind and nothing interrupted the
 *       connection since the line was read and the watch on the own znode was set: then nobody else can be before us. ({@link Waiter} does
 *       all of this.)
 *   <li>The own znode is watched as well: when it vanishes the contender fails at once, or its grant is lost ({@link OwnNode}).
 *   <li>A holder may go on in another role in the same place ({@link Downgrade}): a writer as a reader.
 *   <li>However it ends, the znode is deleted ({@link GuaranteedDelete}).
 * </ol>
 *
 * <p>What if a reply is lost? Of the creation: the line is listed, and the guid tells which znode is ours; if there is none, it was not created
 * and never will be, and is created again. Of a read: it is read again. Of the deletion: see {@link GuaranteedDelete}. A grant is given only if the
 * znode's owner is the present session.
 *
 * <p>Here are the states and every change of them; the parts report what they see. All state belongs to the session's dispatcher; methods that
 * others may call say so.
 */
public final class Contender implements GrantRequest {
    private static final Logger LOG = LoggerFactory.getLogger(Contender.class);

    private final RecipeSession session;
    private final NodePath line;
    private final LineRole role;
    private final String guid;
    private final byte[] data;
    private final boolean patient;
    private final Optional<FencingToken> inheritedToken;
    private final CompletableFuture<Contender> granted = new CompletableFuture<>();
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final CompletableFuture<Void> revocation = new CompletableFuture<>();
    private final OwnNode own;
    private final Waiter waiter;
    private final GuaranteedDelete deletion;
    private final LineMeasurements measurements;
    private final SessionBinding binding;

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
        this.session = session;
        this.line = line;
        this.role = role;
        this.guid = guid;
        this.data = data;
        this.patient = patient;
        this.inheritedToken = inheritedToken;
        this.binding = new SessionBinding(session, this, this::describe, this::end, this::depart);
        this.own = new OwnNode(this, binding, role.kind());
        this.waiter = new Waiter(this, binding, line, role, guid, data, own);
        this.deletion = new GuaranteedDelete(session, line, this::ours);
        this.measurements = new LineMeasurements(session, line, role.measuredAs());
    }

    private Contender(RecipeSession session, NodePath line, LineRole role, byte[] data, boolean patient) {
        this(session, line, role, role.kind().newGuid(), data, patient, Optional.empty());
    }

    /**
     * Enters a line. Never blocks.
     *
     * @param session the session that will own the place
     * @param line the line's znode; made of containers if it is missing
     * @param role as what it stands there
     * @param data what others see of the contender; not copied
     */
    public static Contender enter(RecipeSession session, NodePath line, LineRole role, byte[] data) {
        return enter(new Contender(session, line, role, data, true));
    }

    /**
     * Enters a line, and leaves it at once with {@link AcquireTimeoutException} if somebody must be waited for; a place of the same session that is being given up is nobody. Never
     * blocks.
     */
    public static Contender enterIfFree(RecipeSession session, NodePath line, LineRole role, byte[] data) {
        return enter(new Contender(session, line, role, data, false));
    }

    private static Contender enter(Contender contender) {
        contender.session.execute(contender::begin);
        return contender;
    }

    private void begin() {
        binding.tie();
        if (session.state().isLive()) {
            waiter.create();
        } else {
            binding.sessionIs(session.state());
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
        } else {
            own.watch();
        }
    }

    /** Somebody has to go first; whether the contender waits for that, or has left. */
    boolean mayWait() {
        if (!patient) {
            depart(timedOut(Duration.ZERO), LossReason.RELEASED);
            return false;
        }
        become(ContenderState.WAITING);
        return true;
    }

    /** It is our turn. */
    void grant() {
        if (session.remaining().isZero()) {
            return; // the session's loss is on its way here
        }
        become(ContenderState.HELD);
        measurements.granted();
        LOG.debug("{}: granted", this);
        granted.complete(this);
    }

    private void depart(ConclaveException why, LossReason reason) {
        if (!state.isInLine()) {
            return;
        }
        ContenderState before = state;
        explain(reason);
        become(ContenderState.LEAVING);
        announce(before, reason, why);
        PendingDeletes.of(session).add(line, guid, deletion.done());
        deletion.done().thenRun(this::deleted);
        Downgrade current = downgrade;
        if (current != null && !current.isSettled()) {
            if (!current.isExchanging()) {
                deletion.search();
            } // else the exchange's answer finds us leaving
        } else if (own.znode().isPresent()) {
            deletion.delete();
        } else if (!waiter.isCreating()) {
            deletion.search();
        } // else the creation's answer finds us leaving
        waiter.stop();
    }

    private void deleted() {
        if (state == ContenderState.LEAVING) {
            become(ContenderState.GONE);
        }
        binding.cut();
    }

    /**
     * Completes on the dispatcher when it is the contender's turn; exceptionally when it has failed or was abandoned: {@link SessionGoneException},
     * {@link GrantLostException} if its znode was deleted by somebody else, {@link RefusedException}, or what it was abandoned with.
     */
    @Override
    public CompletionStage<Contender> granted() {
        return granted;
    }

    /** Completes on the dispatcher when a granted place is no longer held, and why. */
    @Override
    public CompletionStage<LossReason> lost() {
        return lost;
    }

    /**
     * Completes on the dispatcher when somebody has asked the contender, by a word in its znode, to give up what it holds or waits for; it
     * need not. Never exceptionally; not at all if nobody asks.
     */
    @Override
    public CompletionStage<Void> revocationRequested() {
        return revocation;
    }

    /** The line's path. Any thread. */
    @Override
    public String what() {
        return line.toString();
    }

    /** With the one at the head of the line, which holds. Any thread. */
    @Override
    public AcquireTimeoutException timedOut(Duration waited) {
        return new AcquireTimeoutException(
                what(),
                waited,
                waiter.obstacle().holder(),
                what() + " was not granted within " + Waiting.text(waited) + ": " + whyNotGranted());
    }

    /** Who or what is in the way. Any thread. */
    public String whyNotGranted() {
        return session.state() == SessionState.CONNECTED
                ? waiter.obstacle().toString()
                : "there is no connection to the store";
    }

    /** Reads who is at the head of the line, unless that is known. Any thread. */
    @Override
    public void timeIsRunningOut() {
        session.execute(() -> guarded(waiter::findHolder));
    }

    /** Completes on the dispatcher when nothing is left of the contender at the backend, or its session is gone; never exceptionally. */
    @Override
    public CompletionStage<Void> gone() {
        return deletion.done();
    }

    /** How long the place surely stays ours; zero if it is not held. Any thread. */
    @Override
    public Duration remaining() {
        return state == ContenderState.HELD ? session.remaining() : Duration.ZERO;
    }

    /** See {@link RecipeSession#deadlineIsStrict}. Any thread. */
    @Override
    public boolean deadlineIsStrict() {
        return session.deadlineIsStrict();
    }

    /** The fencing token of a granted place; a contender that goes on in another's place ({@link #goOnAs}) keeps its token. Any thread. */
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

    /** The session that owns the place. Any thread. */
    @Override
    public RecipeSession session() {
        return session;
    }

    /**
     * Leaves the line, or gives the grant up. Idempotent; any thread. Never blocks.
     *
     * @param why what {@link #granted()} fails with if nothing was granted yet
     * @return completes on the dispatcher when the znode's deletion is confirmed or the session is gone; never exceptionally
     */
    @Override
    public CompletionStage<Void> leave(ConclaveException why) {
        session.execute(() -> depart(why, LossReason.RELEASED));
        return deletion.done();
    }

    /**
     * Leaves the line if nothing was granted yet; a grant that was given stays, because its holder may rely on it already. Otherwise as {@link #leave}.
     */
    @Override
    public void giveUpWaiting(ConclaveException why) {
        session.execute(() -> {
            if (state != ContenderState.HELD) {
                depart(why, LossReason.RELEASED);
            }
        });
    }

    /**
     * Sends a transaction that deletes the place among other things, as when a semaphore turns it into leases. Once it has taken effect the place is given
     * up, which is no loss. To be called on the dispatcher while the place is held; after an unknown outcome and when the place is still there it may be
     * called again.
     *
     * @param onFailure is given one of the four kinds of failure
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

    /**
     * Goes on in another role, without a gap: the znode is exchanged for one of the role's kind in the same place, in one transaction. This contender is
     * then released, and another one holds in its place, with its token. Never blocks; any thread.
     *
     * <p>If a reply is lost, both names are read. If this contender leaves meanwhile, both are left; a znode that somebody deletes meanwhile is lost.
     *
     * @param next a role in the same line, whose rule says "now" wherever this one's does
     * @return completes on the dispatcher with the contender that holds; exceptionally with {@link RefusedException} if the backend refuses it (then this one holds
     *     as before), {@link GrantLostException} if nothing is held, {@link ClosedException} if this contender left meanwhile, {@link SessionGoneException}
     */
    CompletionStage<Contender> goOnAs(LineRole next) {
        if (!next.line().equals(role.line())) {
            throw new IllegalArgumentException(
                    "Invalid role " + next.kind() + ": it must be one of the line of " + role.kind());
        }
        CompletableFuture<Contender> successor = new CompletableFuture<>();
        session.execute(() -> beginDowngrade(next, successor));
        return successor;
    }

    private void beginDowngrade(LineRole next, CompletableFuture<Contender> successor) {
        if (state != ContenderState.HELD || isBeingDowngraded()) {
            successor.completeExceptionally(new GrantLostException(
                    lost.getNow(LossReason.RELEASED), line.toString(), line + " is not held any more"));
            return;
        }
        OwnNode.Znode old = own.znode().orElseThrow();
        String name = next.kind().nameOf(guid)
                + role.kind().digitsOf(old.entry().name()).orElseThrow();
        Downgrade beginning = new Downgrade(this, line, old, next, name, data, successor);
        downgrade = beginning;
        beginning.begin(own.isInterruptedSinceTaken());
    }

    /** Our znode is this one now, and we are its contender no more. */
    Contender downgradedTo(LineRole next, NodePath path, NodeStat stat) {
        Contender successor = new Contender(session, line, next, guid, data, patient, Optional.of(token()));
        successor.takeOver(path, stat);
        end(LossReason.RELEASED, new ClosedException("Goes on as " + successor));
        return successor;
    }

    private void takeOver(NodePath path, NodeStat stat) {
        binding.tie();
        become(ContenderState.HELD);
        measurements.tookOver();
        LOG.debug("{}: goes on", this);
        granted.complete(this);
        take(path, stat);
    }

    /** Whether the znode is being exchanged for another. */
    private boolean isBeingDowngraded() {
        Downgrade current = downgrade;
        return current != null && !current.isSettled();
    }

    /** Whether it waits for others. */
    boolean isPatient() {
        return patient;
    }

    /** The word that asks for it stands in our znode. */
    void askedToGiveUp() {
        if (state.isInLine() && !revocation.isDone()) {
            LOG.debug("{}: asked to give up", this);
            revocation.complete(null);
        }
    }

    /** The znode is not there any more, or not ours. */
    void vanished() {
        if (!state.isInLine() || isBeingDowngraded()) {
            return; // a znode that is being exchanged vanishes; whether that was all the exchange knows
        }
        if (session.remaining().isZero()) {
            // the backend may have ended the session, and tell of its znodes before it hangs up
            binding.sessionIs(SessionState.LOST);
        } else if (turning) {
            turned(); // by our own transaction, whose answer is on its way, or else it says that there was no place
        } else if (revocation.isDone()) {
            end(LossReason.REVOKED, lostException(LossReason.REVOKED, "Revoked while " + describe()));
        } else {
            end(
                    LossReason.NODE_DELETED,
                    lostException(
                            LossReason.NODE_DELETED, "The znode was deleted by somebody else while " + describe()));
        }
    }

    private GrantLostException lostException(LossReason reason, String message) {
        return new GrantLostException(reason, line.toString(), message);
    }

    /** Nothing of us is left at the backend. */
    private void end(LossReason reason, ConclaveException why) {
        if (state == ContenderState.GONE) {
            return;
        }
        ContenderState before = state;
        explain(reason);
        become(ContenderState.GONE);
        announce(before, reason, why); // a listener that hears of the loss is not told any more that it is held
        deletion.nothingLeft();
        waiter.stop();
        binding.cut();
    }

    /** What cannot be mended here. */
    void fail(Throwable cause) {
        binding.fail(cause);
    }

    /** The creation was refused, or never sent: nothing to delete. */
    void failWithoutZnode(Throwable cause) {
        end(LossReason.REFUSED, binding.known(cause));
    }

    /** The places of our guid, of whatever kind. */
    private List<NodePath> ours(List<String> names) {
        return LineEntry.of(guid, role.line(), names).stream()
                .map(entry -> line.child(entry.name()))
                .toList();
    }

    <R> void send(Request<R> request, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        binding.send(request, onAnswer, onFailure);
    }

    void guarded(Runnable step) {
        binding.guarded(step);
    }

    private void explain(LossReason reason) {
        if (state == ContenderState.HELD) {
            lossReason = reason;
        }
    }

    @Override
    public Optional<LossReason> lossReason() {
        return Optional.ofNullable(lossReason);
    }

    private void announce(ContenderState before, LossReason reason, ConclaveException why) {
        if (before == ContenderState.HELD) {
            measurements.noLongerHeld(reason);
            SessionBinding.logLoss(LOG, session, "the grant of " + line + " (place " + place() + ")", reason);
            lost.complete(reason);
        } else {
            granted.completeExceptionally(why);
        }
    }

    private void become(ContenderState next) {
        ContenderState previous = state;
        if (!previous.mayBecome(next)) {
            throw new IllegalStateException(this + " cannot go from " + previous + " to " + next);
        }
        state = next;
    }

    private String describe() {
        return (state == ContenderState.HELD ? "holding " : "waiting for ") + line + " as " + guid;
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

    OwnNode ownNode() {
        return own;
    }

    GuaranteedDelete deletion() {
        return deletion;
    }

    LineMeasurements measurements() {
        return measurements;
    }

    /** The znode's name; its guid as long as it has none. */
    private String place() {
        return own.znode().map(znode -> znode.path().name()).orElse(guid);
    }

    @Override
    public String toString() {
        return line + " (place " + place() + ", " + state + ")";
    }
}
