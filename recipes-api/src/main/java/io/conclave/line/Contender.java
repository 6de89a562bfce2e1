package io.conclave.line;

import io.conclave.coordinator.ParentMaker;
import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Registration;
import io.conclave.coordinator.Waiting;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.FencingToken;
import io.conclave.grant.LossReason;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.spi.Create;
import io.conclave.spi.GetChildren;
import io.conclave.spi.GetData;
import io.conclave.spi.RemoveWatch;
import io.conclave.spi.Request;
import io.conclave.spi.SessionState;
import io.conclave.spi.Sync;
import io.conclave.spi.Watcher;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One place in a line, from its creation to its deletion: the lock of the ZooKeeper recipes page, with the guid that finds a znode
 * again whose creation was not answered.
 *
 * <p>How it goes:
 *
 * <ol>
 *   <li>Create {@code <line>/_c_<guid>-lock-}, ephemeral and sequential, and list the line behind it in the same breath.
 *   <li>Head of the line: granted. Otherwise watch the one predecessor, and only him: one deletion wakes one contender.
 *   <li>When he has gone, look at the line again. The look is spared only if he was its head and nothing interrupted the connection
 *       since the line was read and the watch on the own znode was set: then nobody else can be before us.
 *   <li>The own znode is watched as well: when it vanishes the contender fails at once, or its grant is lost.
 * </ol>
 *
 * <p>What if a reply is lost? Of the creation: the line is listed, and the guid tells which znode is ours; if there is none, it was not created
 * and never will be, and is created again. Of a read: it is read again. Of the deletion: see {@link Departure}. A grant is given only if the
 * znode's owner is the present session.
 *
 * <p>All state belongs to the session's dispatcher; methods that others may call say so.
 */
public final class Contender {
    private static final Logger LOG = LoggerFactory.getLogger(Contender.class);

    private final RecipeSession session;
    private final NodePath line;
    private final String guid = UUID.randomUUID().toString();
    private final byte[] data;
    private final boolean patient;
    private final CompletableFuture<Contender> granted = new CompletableFuture<>();
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final Departure departure;
    private final long enteredNanos;
    private Registration sessionListener = () -> {};

    private volatile ContenderState state = ContenderState.ENTERING; // written on the dispatcher only
    private volatile @Nullable Place place; // written on the dispatcher only
    private long heldSinceNanos;
    private boolean creationInFlight;
    private boolean lookRefused;
    private @Nullable PredecessorWatch predecessorWatch;
    private long placeConnection = -1;
    private long ownWatchConnection = -1;
    private final Watcher ownWatcher = this::onOwnEvent;

    /** The znode that is ours, and the zxid that tells it from another of the same name. */
    private record Place(LineEntry entry, NodePath path, long czxid) {}

    /** What would stay set on a predecessor who holds for long, if we went without removing it. */
    private record PredecessorWatch(NodePath path, Watcher watcher) {}

    private Contender(RecipeSession session, NodePath line, byte[] data, boolean patient) {
        this.patient = patient;
        this.session = session;
        this.line = line;
        this.data = data;
        this.departure = new Departure(session, line, guid);
        this.enteredNanos = session.time().monotonicNanos();
    }

    /**
     * Enters a line. Never blocks.
     *
     * @param session the session that will own the place
     * @param line the line's znode; made of containers if it is missing
     * @param data what others see of the contender; not copied
     */
    public static Contender enter(RecipeSession session, NodePath line, byte[] data) {
        return enter(new Contender(session, line, data, true));
    }

    /** Enters a line, and leaves it at once with {@link AcquireTimeoutException} if somebody is before us. Never blocks. */
    public static Contender enterIfFree(RecipeSession session, NodePath line, byte[] data) {
        return enter(new Contender(session, line, data, false));
    }

    private static Contender enter(Contender contender) {
        contender.session.execute(contender::begin);
        return contender;
    }

    /**
     * Completes on the dispatcher when the contender is the head of the line; exceptionally when it has failed or was abandoned: {@link SessionGoneException},
     * {@link GrantLostException} if its znode was deleted by somebody else, {@link RefusedException}, or what it was abandoned with.
     */
    public CompletionStage<Contender> granted() {
        return granted;
    }

    /** Completes on the dispatcher when a granted place is no longer held, and why. */
    public CompletionStage<LossReason> lost() {
        return lost;
    }

    /** Completes on the dispatcher when nothing is left of the contender at the backend, or its session is gone; never exceptionally. */
    public CompletionStage<Void> gone() {
        return departure.done();
    }

    /** How long the place surely stays ours; zero if it is not held. Any thread. */
    public Duration remaining() {
        return state == ContenderState.HELD ? session.remaining() : Duration.ZERO;
    }

    /** See {@link RecipeSession#deadlineIsStrict}. Any thread. */
    public boolean deadlineIsStrict() {
        return session.deadlineIsStrict();
    }

    /** The fencing token of a granted place. Any thread. */
    public FencingToken token() {
        Place ours = place;
        if (ours == null) {
            throw new IllegalStateException("A contender has no token before it has a place: " + this);
        }
        return new FencingToken(session.generation(), ours.czxid);
    }

    /** The path of the contender's znode, once it has one. Any thread. */
    public Optional<NodePath> path() {
        return Optional.ofNullable(place).map(Place::path);
    }

    /** The session that owns the place. Any thread. */
    public RecipeSession session() {
        return session;
    }

    /**
     * Leaves the line, or gives the grant up. Idempotent; any thread. Never blocks.
     *
     * @param why what {@link #granted()} fails with if nothing was granted yet
     * @return completes on the dispatcher when the znode's deletion is confirmed or the session is gone; never exceptionally
     */
    public CompletionStage<Void> leave(ConclaveException why) {
        session.execute(() -> depart(why, LossReason.RELEASED));
        return departure.done();
    }

    /**
     * Leaves the line if nothing was granted yet; a grant that was given stays, because its holder may rely on it already. Otherwise as {@link #leave}.
     */
    public void giveUpWaiting(ConclaveException why) {
        session.execute(() -> {
            if (state != ContenderState.HELD) {
                depart(why, LossReason.RELEASED);
            }
        });
    }

    private void begin() {
        sessionListener = session.onStateChange(this::onSessionState);
        if (session.state().isLive()) {
            create();
        } else {
            onSessionState(session.state());
        }
    }

    private void create() {
        creationInFlight = true;
        lookRefused = false;
        Create request =
                Create.of(line.child(LineEntry.nameOf(guid))).withData(data).withMode(CreateMode.EPHEMERAL_SEQUENTIAL);
        send(request, this::onCreated, this::onNotCreated);
        look();
    }

    private void onCreated(Create.Created created) {
        creationInFlight = false;
        take(created.path(), created.stat());
        if (lookRefused) {
            lookRefused = false;
            look();
        }
    }

    private void onNotCreated(Throwable cause) {
        creationInFlight = false;
        if (cause instanceof OutcomeUnknownException) {
            if (state.isInLine()) {
                recover();
            } else {
                departure.searchAndDelete();
            }
        } else if (isRefused(cause, RefusalReason.NO_NODE) && state.isInLine()) {
            ParentMaker.makeContainers(session, line).whenComplete((done, failure) -> onParents(failure));
        } else {
            failWithoutZnode(cause);
        }
    }

    private void onParents(@Nullable Throwable failure) {
        if (failure == null && state.isInLine()) {
            create();
        } else {
            failWithoutZnode(failure == null ? new ClosedException("Abandoned") : Waiting.cause(failure));
        }
    }

    /** We know our znode now; everything else may have ended meanwhile. */
    private void take(NodePath path, NodeStat stat) {
        Optional<LineEntry> entry = LineEntry.parse(path.name());
        if (entry.isEmpty()) {
            throw new IllegalStateException("The backend created " + path + ", which is no place in a line");
        }
        place = new Place(entry.get(), path, stat.czxid());
        placeConnection = session.connectionNumber();
        departure.found(path, stat.czxid());
        if (!state.isInLine()) {
            departure.delete(false);
        } else if (stat.ephemeralOwner() != session.id()) {
            fail(new SessionGoneException(path + " belongs to the session 0x" + Long.toHexString(stat.ephemeralOwner())
                    + ", not to " + session));
        } else {
            watchOwn();
        }
    }

    /**
     * After a creation without an answer: whatever came of it is decided before the first answer on the next connection, and sync makes
     * sure that the server we list from has heard of it.
     */
    private void recover() {
        session.metrics().count("line.recover", line.toString());
        // One after the other: a list that came by another connection than the sync may be older than the creation.
        send(
                Sync.of(line),
                synced -> send(GetChildren.of(line), children -> onRecovered(children.names()), this::onRecoveryFailed),
                this::onRecoveryFailed);
    }

    private void onRecoveryFailed(Throwable cause) {
        if (cause instanceof OutcomeUnknownException && state.isInLine()) {
            recover();
        } else if (isRefused(cause, RefusalReason.NO_NODE) && state.isInLine()) {
            create();
        } else {
            fail(cause);
        }
    }

    private void onRecovered(List<String> names) {
        if (!state.isInLine()) {
            return; // the departure searches for itself
        }
        List<LineEntry> ours = LineEntry.of(guid, names);
        if (ours.isEmpty()) {
            create();
            return;
        }
        LOG.debug("{}: found again after a lost reply: {}", this, ours);
        ours.subList(1, ours.size()).forEach(surplus -> departure.deleteSurplus(line.child(surplus.name())));
        NodePath path = line.child(ours.get(0).name());
        send(GetData.of(path), node -> onFoundAgain(path, node.stat()), cause -> {
            if (cause instanceof OutcomeUnknownException && state.isInLine()) {
                recover();
            } else {
                onOwnReadFailed(cause);
            }
        });
    }

    private void onFoundAgain(NodePath path, NodeStat stat) {
        if (state.isInLine()) {
            take(path, stat);
            look();
        }
    }

    private void watchOwn() {
        Place ours = place;
        if (ours == null) {
            return;
        }
        send(GetData.of(ours.path).withWatcher(ownWatcher), node -> onOwnRead(ours, node.stat()), cause -> {
            if (cause instanceof OutcomeUnknownException && state.isInLine()) {
                watchOwn();
            } else {
                onOwnReadFailed(cause);
            }
        });
    }

    private void onOwnRead(Place ours, NodeStat stat) {
        if (stat.czxid() != ours.czxid || stat.ephemeralOwner() != session.id()) {
            vanished();
        } else {
            ownWatchConnection = session.connectionNumber();
        }
    }

    private void onOwnReadFailed(Throwable cause) {
        if (isRefused(cause, RefusalReason.NO_NODE)) {
            vanished();
        } else {
            fail(cause);
        }
    }

    private void onOwnEvent(NodeEvent event) {
        if (!state.isInLine()) {
            return;
        }
        if (event.type() == NodeEvent.Type.DELETED) {
            vanished();
        } else {
            watchOwn();
        }
    }

    /** Reads the line; the answer counts for the connection on which it came. */
    private void look() {
        send(GetChildren.of(line), children -> onLine(LineEntry.inOrder(children.names())), cause -> {
            if (!isLooking()) {
                lookRefused = creationInFlight; // by the bound of the queue, which answers out of turn
                return;
            }
            if (cause instanceof OutcomeUnknownException) {
                lookAgain();
            } else if (isRefused(cause, RefusalReason.NO_NODE)) {
                vanished();
            } else {
                fail(cause);
            }
        });
    }

    /** Whether an answer about the line still matters; before we have a place, the creation's own answer decides. */
    private boolean isLooking() {
        return place != null && (state == ContenderState.ENTERING || state == ContenderState.WAITING);
    }

    /** In doubt the own znode is read with the line. */
    private void lookAgain() {
        watchOwn();
        look();
    }

    private void onLine(List<LineEntry> entries) {
        Place ours = place;
        if (ours == null || !isLooking()) {
            return;
        }
        int position = entries.indexOf(ours.entry);
        if (position < 0) {
            vanished();
        } else if (position == 0) {
            grant();
        } else if (!patient) {
            depart(new AcquireTimeoutException(line + " is held by somebody else"), LossReason.RELEASED);
        } else {
            become(ContenderState.WAITING);
            waitFor(entries.get(position - 1), position == 1);
        }
    }

    private void waitFor(LineEntry predecessor, boolean isHead) {
        long connection = session.connectionNumber();
        Watcher watcher = event -> onPredecessor(event, isHead, connection);
        NodePath path = line.child(predecessor.name());
        send(GetData.of(path).withWatcher(watcher), node -> onWatching(new PredecessorWatch(path, watcher)), cause -> {
            if (state != ContenderState.WAITING) {
                return;
            }
            if (cause instanceof OutcomeUnknownException || isRefused(cause, RefusalReason.NO_NODE)) {
                lookAgain();
            } else {
                fail(cause);
            }
        });
    }

    private void onWatching(PredecessorWatch watch) {
        predecessorWatch = watch;
        if (state != ContenderState.WAITING) {
            unwatchPredecessor();
        }
    }

    /** A line that many give up while one holds must not gather their watches. */
    private void unwatchPredecessor() {
        PredecessorWatch watch = predecessorWatch;
        predecessorWatch = null;
        if (watch != null && session.state().isLive()) {
            session.send(new RemoveWatch(watch.path, watch.watcher), removed -> {}, cause -> {
                if (cause instanceof OutcomeUnknownException) {
                    predecessorWatch = watch;
                    unwatchPredecessor();
                }
            });
        }
    }

    private void onPredecessor(NodeEvent event, boolean wasHead, long connection) {
        predecessorWatch = null;
        if (state != ContenderState.WAITING) {
            return;
        }
        boolean uninterrupted = connection == session.connectionNumber() && connection == ownWatchConnection;
        if (event.type() == NodeEvent.Type.DELETED && wasHead && uninterrupted) {
            grant();
        } else {
            lookAgain();
        }
    }

    private void grant() {
        if (session.remaining().isZero()) {
            return; // the session's loss is on its way here
        }
        become(ContenderState.HELD);
        heldSinceNanos = session.time().monotonicNanos();
        session.metrics().duration("line.wait", line.toString(), Duration.ofNanos(heldSinceNanos - enteredNanos));
        LOG.debug("{}: granted", this);
        granted.complete(this);
    }

    private void onSessionState(SessionState next) {
        if (next == SessionState.LOST) {
            end(LossReason.SESSION_LOST, new SessionGoneException("The session was lost while " + describe()));
        } else if (next == SessionState.CLOSED) {
            end(LossReason.COORDINATOR_CLOSED, new ClosedException("The coordinator was closed while " + describe()));
        }
    }

    private void vanished() {
        if (!state.isInLine()) {
            return;
        }
        if (session.remaining().isZero()) {
            // the backend may have ended the session, and tell of its znodes before it hangs up
            end(LossReason.SESSION_LOST, new SessionGoneException("The session was lost while " + describe()));
        } else {
            end(
                    LossReason.NODE_DELETED,
                    new GrantLostException("The znode was deleted by somebody else while " + describe()));
        }
    }

    /** Nothing of us is left at the backend. */
    private void end(LossReason reason, ConclaveException why) {
        if (state == ContenderState.GONE) {
            return;
        }
        announce(reason, why);
        become(ContenderState.GONE);
        departure.nothingLeft();
        unwatchPredecessor();
        sessionListener.close();
    }

    private void fail(Throwable cause) {
        if (cause instanceof ClosedException closed) {
            end(LossReason.COORDINATOR_CLOSED, closed);
        } else if (cause instanceof SessionGoneException gone) {
            end(LossReason.SESSION_LOST, gone);
        } else {
            depart(known(cause), LossReason.NODE_DELETED);
        }
    }

    /** The creation was refused, or never sent: nothing to delete. */
    private void failWithoutZnode(Throwable cause) {
        end(LossReason.NODE_DELETED, known(cause));
    }

    private ConclaveException known(Throwable cause) {
        return cause instanceof ConclaveException known
                ? known
                : new OutcomeUnknownException("Unexpected failure while " + describe(), cause);
    }

    private void depart(ConclaveException why, LossReason reason) {
        if (!state.isInLine()) {
            return;
        }
        announce(reason, why);
        become(ContenderState.LEAVING);
        departure.done().thenRun(this::departed);
        if (place != null) {
            departure.delete(placeConnection != session.connectionNumber());
        } else if (!creationInFlight) {
            departure.searchAndDelete();
        } // else the creation's answer finds us leaving
        unwatchPredecessor();
    }

    private void departed() {
        if (state == ContenderState.LEAVING) {
            become(ContenderState.GONE);
        }
        sessionListener.close();
    }

    /** What goes wrong here ends the contender: with a log line alone it would stand in the line for ever. */
    private <R> void send(Request<R> request, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        session.send(
                request,
                answer -> guarded(() -> onAnswer.accept(answer)),
                cause -> guarded(() -> onFailure.accept(cause)));
    }

    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LOG.error("{}: unexpected failure", this, e);
            fail(e);
        }
    }

    private void announce(LossReason reason, ConclaveException why) {
        if (state == ContenderState.HELD) {
            session.metrics()
                    .duration(
                            "line.held",
                            line.toString(),
                            Duration.ofNanos(session.time().monotonicNanos() - heldSinceNanos));
            session.metrics().count(reason == LossReason.RELEASED ? "grant.released" : "grant.lost", line.toString());
            if (reason != LossReason.RELEASED) {
                LOG.warn("{}: lost: {}", this, reason);
            }
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

    private static boolean isRefused(Throwable cause, RefusalReason reason) {
        return cause instanceof RefusedException refused && refused.reason() == reason;
    }

    @Override
    public String toString() {
        Place ours = place;
        return "Contender[" + (ours == null ? line + ", " + guid : ours.path + ", 0x" + Long.toHexString(ours.czxid))
                + ", " + state + "]";
    }
}
