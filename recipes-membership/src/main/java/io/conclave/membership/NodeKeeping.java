package io.conclave.membership;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.SessionGoneException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.recovery.SessionFollower;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.request.Watcher;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings one znode to what its {@link KeptNode} wants, through all sessions of a coordinator: there with the latest
 * payload, or gone.
 *
 * <p>{@link #goOn} is the one place that decides what is sent next, from what is known; one request is on its way at a
 * time, and its answer or failure changes what is known and goes on. After a lost reply nothing is known, so the znode
 * is looked at, behind a sync. State belongs to the dispatcher of the current session.
 */
final class NodeKeeping implements SessionFollower.Work, PathQueue.Claimant {
    private static final Logger LOG = LoggerFactory.getLogger(NodeKeeping.class);

    private final KeptNode owner;
    private final NodePath path;
    private final boolean isEphemeral;
    private final SessionFollower follower;
    private final PathQueue paths;
    private final Watcher watcher = this::onEvent;

    private boolean isBusy; // an answer or a timer is on its way that goes on from here
    private boolean isBegun;
    private boolean isCreating;
    private boolean isStale; // what stands there is not known
    private boolean isUncertain; // a request was not answered: the next look must be behind it
    private boolean maybeCreated;
    private byte[] created = {}; // the data of the znode that may have been created
    private boolean isOurs;
    private boolean isTaken; // by another client's znode, whose end is waited for
    private boolean wasThere; // with data that was wanted
    private boolean isInDoubt; // a write was sent, and it is not known whether it took effect
    private boolean isWriting; // one is on its way
    private boolean isCoordinatorClosed;
    private boolean isClosing;
    private boolean isOver;
    private long czxid; // of the one that was ours last; 0 for none
    private int version;
    private Payloads.@Nullable Payload written; // the last one; null if what stands there is another client's
    private boolean mayLinger; // an ephemeral one of a lost session, until the present session answers

    NodeKeeping(KeptNode owner, Coordinator coordinator, NodePath path, boolean isEphemeral) {
        this.owner = owner;
        this.path = path;
        this.isEphemeral = isEphemeral;
        this.follower = new SessionFollower(coordinator, this);
        this.paths = follower.session().keepWithCoordinator(PathQueue.class, PathQueue::new);
    }

    /** Never blocks; any thread. */
    void begin() {
        if (paths.claim(path, this)) {
            follower.follow();
        } else {
            LOG.info("{}: this coordinator keeps the path already; beginning when that has ended", owner);
        }
    }

    @Override
    public void onClaimed() {
        follower.follow();
    }

    RecipeSession session() {
        return follower.session();
    }

    /** There is another payload, or the znode shall be deleted. Any thread. */
    void wanted() {
        follower.execute(this::goOn);
    }

    /** Deletes the znode, on the next session if need be. Any thread. */
    void close() {
        follower.execute(() -> {
            isClosing = true;
            lookForFormer();
            goOn();
        });
    }

    @Override
    public void onSession(RecipeSession next) {
        isBegun = true;
        isBusy = false;
        isWriting = false;
        isCreating = false;
        if (isEphemeral) {
            forget();
            lookForFormer();
        } else {
            isStale = czxid != 0 || maybeCreated || isTaken;
            isUncertain = true;
        }
        goOn();
    }

    @Override
    public void onSessionEnded() {
        if (isEphemeral) {
            mayLinger |= isOurs || maybeCreated;
            forget();
            owner.onMissing();
        }
    }

    /** A session that its client gave up lives on at the backend until the next one is connected, as does its znode. */
    private void lookForFormer() {
        if (isClosing && mayLinger) {
            isStale = true;
            isUncertain = true;
        }
    }

    private void forget() {
        isStale = false;
        isOurs = false;
        isTaken = false;
        maybeCreated = false;
        czxid = 0;
    }

    /** A write that was sent already is answered yet, or fails. */
    @Override
    public void onClosed() {
        isCoordinatorClosed = true;
        if (isEphemeral || !isWriting) {
            endWithCoordinator();
        }
    }

    /** An ephemeral znode goes with the coordinator, whatever became of the last write of it. */
    private void endWithCoordinator() {
        if (isInDoubt && !isEphemeral) {
            end(new OutcomeUnknownException(owner + ": the coordinator was closed before it was known whether the last "
                    + "write of the znode took effect. Look at " + path));
        } else {
            boolean stays = !isEphemeral && czxid != 0;
            end(new ClosedException(owner + ": the coordinator was closed" + (stays ? "; the znode stays" : "")));
        }
    }

    /** Sends what comes next, unless an answer is on its way. */
    private void goOn() {
        if (isBusy || isOver) {
            return;
        }
        if (isClosing && !isOurs && czxid == 0 && !maybeCreated && !mayLinger) {
            end(null);
        } else if (!isBegun) {
            return; // the path is kept by another one yet
        } else if (isStale) {
            look();
        } else if (isClosing) {
            delete();
        } else if (!isOurs && !isTaken) {
            create();
        } else if (isOurs && isToBeWritten(owner.payload())) {
            write();
        }
    }

    private boolean isToBeWritten(Payloads.Payload payload) {
        return written == null || payload.isAfter(written);
    }

    private <R> void write(Request<R> request, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        RecipeSession on = session();
        isBusy = true;
        isWriting = true;
        isInDoubt = true;
        on.send(
                request,
                answer -> onOutcome(
                        on, false, () -> answered(on, () -> onAnswer.accept(answer)), () -> onAnswer.accept(answer)),
                cause -> onOutcome(on, isUnknown(cause), () -> failed(on, cause, onFailure), () -> {}));
    }

    private static boolean isUnknown(Throwable cause) {
        return cause instanceof OutcomeUnknownException || cause instanceof SessionGoneException;
    }

    /**
     * What became of a write.
     *
     * @param next goes on with it
     * @param atTheEnd takes notice of it, when the coordinator was closed meanwhile
     */
    private void onOutcome(RecipeSession on, boolean isUnknown, Runnable next, Runnable atTheEnd) {
        if (on != session() || isOver) {
            return;
        }
        isWriting = false;
        isInDoubt = isUnknown;
        if (isCoordinatorClosed) {
            atTheEnd.run();
            endWithCoordinator();
        } else {
            next.run();
        }
    }

    private void answered(RecipeSession on, Runnable next) {
        if (follower.isCurrent(on)) {
            isBusy = false;
            isCreating = false;
            next.run();
            goOn();
        }
    }

    private void failed(RecipeSession on, Throwable cause, Consumer<? super Throwable> onFailure) {
        if (!follower.isCurrent(on) || Failures.isSessionOver(cause)) {
            return; // the session's state tells what follows
        }
        if (cause instanceof OutcomeUnknownException) {
            isUncertain = true;
            isStale = true;
            answered(on, () -> {});
        } else if (Failures.mayPass(cause)) {
            LOG.info("{}: trying again: {}", owner, cause.getMessage());
            maybeCreated &= !isCreating;
            isStale = true;
            later(cause);
        } else {
            answered(on, () -> onFailure.accept(cause));
        }
    }

    private void later(Throwable cause) {
        RecipeSession on = session();
        isBusy = true;
        Retry.later(on, cause, () -> answered(on, () -> {}));
    }

    private void create() {
        Payloads.Payload payload = owner.payload();
        isCreating = true;
        maybeCreated = true;
        created = payload.data();
        Create request = Create.of(path)
                .withData(payload.data())
                .withMode(isEphemeral ? CreateMode.EPHEMERAL : CreateMode.PERSISTENT);
        write(
                request,
                created -> {
                    maybeCreated = false;
                    mayLinger = false;
                    isStale = true; // to set the watch
                    onOurs(created.stat(), payload);
                },
                cause -> onNotCreated(payload, cause));
    }

    private void onNotCreated(Payloads.Payload payload, Throwable cause) {
        maybeCreated = false;
        if (Failures.is(cause, RefusalReason.NODE_EXISTS)) {
            isStale = true;
        } else if (Failures.isNoNode(cause)) {
            makeParents();
        } else if (!owner.takesBack(payload, cause)) {
            onRefused(cause);
        }
    }

    private void makeParents() {
        RecipeSession on = session();
        NodePath parent = path.parent().orElse(NodePath.ROOT);
        isBusy = true;
        Waiting.whenDone(
                isEphemeral ? ParentMaker.makeContainers(on, parent) : ParentMaker.makePersistent(on, parent),
                made -> on.execute(() -> answered(on, () -> {})),
                cause -> on.execute(() -> failed(on, cause, this::onRefused)));
    }

    /** Refused for good, as it seems: that ends what never was there with its data; what was is tried again. */
    private void onRefused(Throwable cause) {
        if (isClosing) {
            return;
        }
        if (wasThere) {
            LOG.warn("{}: cannot be created or written again, trying on: {}", owner, cause.getMessage());
            later(cause);
        } else {
            end(cause);
        }
    }

    /** Reads the znode and watches it. */
    private void look() {
        isStale = false;
        RecipeSession on = session();
        GetData read = GetData.of(path).withWatcher(watcher);
        isBusy = true;
        Consumer<GetData.NodeData> onFound = node -> answered(on, () -> onFound(on, node));
        Consumer<Throwable> onFailure = cause -> failed(on, cause, this::onNotFound);
        if (isUncertain) {
            on.readLatest(path, read, onFound, onFailure);
        } else {
            on.read(read, onFound, onFailure);
        }
    }

    private void onNotFound(Throwable cause) {
        if (Failures.isNoNode(cause)) {
            isUncertain = false;
            isInDoubt = false;
            onGone();
        } else {
            LOG.warn("{}: cannot be looked at, trying on: {}", owner, cause.getMessage());
            isStale = true;
            later(cause);
        }
    }

    private void onGone() {
        if (isOurs && !isClosing) {
            LOG.info("{}: deleted by another client, creating it again", owner);
            session().metrics().count("membership.restored", path.toString());
        }
        maybeCreated = false;
        mayLinger = false;
        isOurs = false;
        isTaken = false;
        czxid = 0;
        owner.onMissing();
    }

    private void onFound(RecipeSession on, GetData.NodeData node) {
        isUncertain = false;
        isInDoubt = false;
        mayLinger = false;
        NodeStat stat = node.stat();
        boolean mayBeOurs = isEphemeral ? stat.ephemeralOwner() == on.id() : !stat.isEphemeral();
        Payloads.Payload payload = owner.payload();
        boolean isAsWanted = node.bytes().contentEquals(payload.data());
        boolean isAsCreated = isEphemeral || node.bytes().contentEquals(created);
        if (isClosing && stat.czxid() != czxid && !(maybeCreated && mayBeOurs && isAsCreated)) {
            onGone(); // this one is another client's
        } else if (mayBeOurs) {
            onOurs(stat, isAsWanted ? payload : stat.czxid() == czxid ? written : null);
        } else {
            onTaken(stat);
        }
        maybeCreated = false;
    }

    private void onTaken(NodeStat stat) {
        isOurs = false;
        czxid = 0;
        if (!isTaken) {
            isTaken = true;
            session().metrics().count("membership.taken", path.toString());
            LOG.info(
                    "{}: there is a znode of the session 0x{}; creating it when that has gone",
                    owner,
                    Long.toHexString(stat.ephemeralOwner()));
        }
        owner.onMissing();
    }

    private void onOurs(NodeStat stat, Payloads.@Nullable Payload payload) {
        isOurs = true;
        isTaken = false;
        wasThere |= payload != null;
        czxid = stat.czxid();
        version = stat.version();
        written = payload;
        owner.onPresent(payload);
    }

    private void write() {
        Payloads.Payload payload = owner.payload();
        write(SetData.of(path, payload.data()).withVersion(version), stat -> onOurs(stat, payload), cause -> {
            if (Failures.isStale(cause)) {
                isStale = true;
            } else if (!owner.takesBack(payload, cause)) {
                onRefused(cause);
            }
        });
    }

    private void onEvent(NodeEvent event) {
        if (isOver || event.type() == NodeEvent.Type.WATCH_REMOVED) {
            return;
        }
        if (event.type() == NodeEvent.Type.DELETED && !isBusy) {
            onGone();
        } else {
            isStale = true;
        }
        goOn();
    }

    // So far the znode is kept. From here on, its end.

    private void delete() {
        write(Delete.of(path).withVersion(version), deleted -> end(null), cause -> {
            if (Failures.isNoNode(cause)) {
                end(null);
            } else if (Failures.is(cause, RefusalReason.BAD_VERSION)) {
                isStale = true; // changed, or another one
            } else {
                LOG.error("{}: cannot be deleted", owner, cause);
                end(cause);
            }
        });
    }

    private void end(@Nullable Throwable failure) {
        if (isOver) {
            return;
        }
        isOver = true;
        if (session().state().isLive()) {
            session().unwatch(path, watcher);
        }
        follower.end();
        paths.release(path, this);
        owner.onClosed(failure);
    }

    @Override
    public String toString() {
        return "NodeKeeping[" + path + (isOurs ? ", there" : "") + (isClosing ? ", closing" : "") + "]";
    }
}
