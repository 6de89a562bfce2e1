package io.conclave.membership;

import io.conclave.error.Holder;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Sender;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.request.Watcher;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A membership during one session: the member's znode, from its creation to its deletion.
 *
 * <pre>{@code
 * CLAIMING -> ENTERING <-> TAKEN (another member has the id)
 *                 |
 *                 v
 *              MEMBER -> LEAVING -> GONE  (LEAVING and GONE from every state before)
 * }</pre>
 *
 * <p>A creation without an answer took effect before the first answer on the next connection, or never will; so it is
 * looked for, and what belongs to this session is ours, since {@link PathQueue} lets no other member of this session
 * create it. State belongs to the session's dispatcher.
 */
final class SessionMembership implements PathQueue.Claimant, Sender {
    private static final Logger LOG = LoggerFactory.getLogger(SessionMembership.class);

    private final HeldMembership<?> membership;
    private final RecipeSession session;
    private final NodePath path;
    private final PathQueue claims;
    private final Watcher watcher = this::onEvent;
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private Registration sessionListener = () -> {};
    private State state = State.CLAIMING;
    /** Whether an answer or a timer is on its way that goes on from here. */
    private boolean busy;

    private volatile boolean waitsForOwnSession; // written on the dispatcher only
    private volatile @Nullable Holder holder; // written on the dispatcher only
    private boolean maybeCreated;
    private boolean writing;
    private Payloads.Payload written; // of the znode, or of the creation that is on its way
    private long czxid;
    private int version;
    private long takenOnConnection;

    private enum State {
        CLAIMING,
        ENTERING,
        TAKEN,
        MEMBER,
        LEAVING,
        GONE;

        boolean mayBecome(State next) {
            return switch (next) {
                case CLAIMING -> false;
                case ENTERING -> this == CLAIMING || this == TAKEN;
                case TAKEN, MEMBER -> this == ENTERING;
                case LEAVING -> this != GONE && this != LEAVING;
                case GONE -> this != GONE;
            };
        }
    }

    SessionMembership(HeldMembership<?> membership, RecipeSession session, NodePath path) {
        this.membership = membership;
        this.session = session;
        this.path = path;
        this.written = membership.payload();
        this.claims = session.keep(PathQueue.class, PathQueue::new);
    }

    RecipeSession session() {
        return session;
    }

    private void become(State next) {
        if (!state.mayBecome(next)) {
            throw new IllegalStateException("A membership that is " + state + " cannot become " + next);
        }
        state = next;
    }

    /** Never blocks; any thread. */
    void begin() {
        session.execute(() -> {
            if (state == State.GONE) {
                return;
            }
            sessionListener = session.onStateChange(this::onSessionState);
            if (session.state().isLive()) {
                claim();
            } else {
                onSessionState(session.state());
            }
        });
    }

    private void claim() {
        if (claims.claim(path, this)) {
            onClaimed();
        } else {
            waitsForOwnSession = true;
            if (claims.mustWait(path, this)) {
                membership.onTaken();
            }
            LOG.info(
                    "{}: this coordinator has a member with this id already; joining when that one has left",
                    membership);
        }
    }

    private void onSessionState(SessionState next) {
        if (state == State.GONE || next.isLive()) {
            return;
        }
        boolean leaving = state == State.LEAVING;
        finish();
        if (!leaving && next == SessionState.LOST) {
            membership.onSessionLost(this);
        } else if (!leaving) {
            membership.onCoordinatorClosed(this);
        }
    }

    private void finish() {
        become(State.GONE);
        sessionListener.close();
        claims.release(path, this);
        gone.complete(null);
    }

    /** Whether another membership of this session is in the way. Any thread. */
    boolean waitsForOwnSession() {
        return waitsForOwnSession;
    }

    /** The member that has the id, if one was found. Any thread. */
    Optional<Holder> holder() {
        return Optional.ofNullable(holder);
    }

    @Override
    public void onClaimed() {
        waitsForOwnSession = false;
        become(State.ENTERING);
        create();
    }

    @Override
    public boolean isLeaving() {
        return state == State.LEAVING;
    }

    /** Sends a request whose answer goes on from here. */
    @Override
    public <R> void send(Request<R> request, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        busy = true;
        session.send(
                request,
                answer -> {
                    busy = false;
                    if (state != State.GONE) {
                        onAnswer.accept(answer);
                    }
                },
                cause -> {
                    busy = false;
                    if (state != State.GONE && !Failures.isSessionOver(cause)) {
                        onFailure.accept(cause); // else the session's state tells what follows
                    }
                });
    }

    private void create() {
        written = membership.payload();
        Create request = Create.of(path).withData(written.data()).withMode(CreateMode.EPHEMERAL);
        send(request, created -> onOurs(created.stat(), false), this::onNotCreated);
    }

    private void onNotCreated(Throwable cause) {
        if (cause instanceof OutcomeUnknownException) {
            maybeCreated = true;
            session.metrics().count("membership.recover", path.toString());
            look();
        } else if (state == State.LEAVING) {
            finish();
        } else if (Failures.is(cause, RefusalReason.NODE_EXISTS)) {
            look();
        } else if (Failures.isNoNode(cause)) {
            makeGroup();
        } else if (!Failures.mayPass(cause) && membership.takesBack(this, written, cause)) {
            create();
        } else {
            onRefused(cause, this::create);
        }
    }

    private void makeGroup() {
        busy = true;
        ParentMaker.makeContainers(session, path.parent().orElse(NodePath.ROOT)).whenComplete((done, failure) -> {
            busy = false;
            if (state == State.LEAVING) {
                finish();
            } else if (state == State.ENTERING && failure == null) {
                create();
            } else if (state == State.ENTERING) {
                onRefused(Waiting.cause(failure), this::create);
            }
        });
    }

    private void onRefused(Throwable cause, Runnable again) {
        if (Failures.isSessionOver(cause)) {
            return; // the session's state tells what follows
        }
        if (Failures.mayPass(cause) || (cause instanceof OutcomeUnknownException)) {
            LOG.info("{}: trying again: {}", membership, cause.getMessage());
            later(cause, again);
        } else {
            finish();
            membership.onRefused(this, cause);
        }
    }

    private void later(Throwable cause, Runnable again) {
        busy = true;
        Retry.later(session, cause, () -> {
            busy = false;
            if (state == State.LEAVING) {
                leaveNow();
            } else if (state != State.GONE) {
                again.run();
            }
        });
    }

    /**
     * Reads the owner of the znode, and watches it. If it may be ours, the server that is read from must have heard of
     * the creation.
     */
    private void look() {
        GetData read = GetData.of(path).withWatcher(watcher);
        if (maybeCreated) {
            readLatest(path, read, this::onFound, this::onNotFound);
        } else {
            read(read, this::onFound, this::onNotFound);
        }
    }

    private void onNotFound(Throwable cause) {
        if (Failures.isNoNode(cause)) {
            onFree();
        } else {
            onRefused(cause, this::look);
        }
    }

    private void onFree() {
        maybeCreated = false;
        if (state == State.LEAVING) {
            finish();
        } else {
            create();
        }
    }

    private void onFound(GetData.NodeData node) {
        NodeStat stat = node.stat();
        if (maybeCreated && stat.ephemeralOwner() == session.id()) {
            onOurs(stat, true);
        } else if (state == State.LEAVING) {
            removeWatch();
            finish();
        } else {
            maybeCreated = false;
            become(State.TAKEN);
            holder =
                    new Holder(path.toString(), new String(node.data(), StandardCharsets.UTF_8), stat.ephemeralOwner());
            membership.onTaken();
            session.metrics().count("membership.taken", path.toString());
            LOG.info(
                    "{}: session 0x{} has this id; joining when its znode is gone",
                    membership,
                    Long.toHexString(stat.ephemeralOwner()));
        }
    }

    private void onOurs(NodeStat stat, boolean watched) {
        maybeCreated = false;
        czxid = stat.czxid();
        version = stat.version();
        takenOnConnection = session.connectionNumber();
        if (state == State.LEAVING) {
            delete();
            return;
        }
        become(State.MEMBER);
        membership.onJoined(this, czxid, written);
        if (!watched) {
            watch();
        }
        write();
    }

    /** Reads our znode and watches it. */
    private void watch() {
        if (state != State.MEMBER) {
            return;
        }
        session.send(GetData.of(path).withWatcher(watcher), node -> onOwnRead(node.stat()), cause -> {
            if (state != State.MEMBER) {
                return;
            }
            if (Failures.isNoNode(cause)) {
                onExpelled();
            } else {
                Retry.always(session, membership, cause, this::watch);
            }
        });
    }

    private void onOwnRead(NodeStat stat) {
        if (state != State.MEMBER) {
            return;
        }
        if (stat.czxid() != czxid || stat.ephemeralOwner() != session.id()) {
            removeWatch();
            onExpelled();
        } else {
            version = stat.version();
            write();
        }
    }

    private void onExpelled() {
        finish();
        membership.onExpelled(this);
    }

    private void onEvent(NodeEvent event) {
        if (event.type() == NodeEvent.Type.WATCH_REMOVED) {
            return;
        }
        boolean deleted = event.type() == NodeEvent.Type.DELETED;
        if (state == State.MEMBER && deleted) {
            onExpelled();
        } else if (state == State.MEMBER) {
            watch();
        } else if (state == State.TAKEN) {
            become(State.ENTERING);
            if (deleted) {
                create();
            } else {
                look();
            }
        }
    }

    /** There is a newer payload than the written one. Any thread. */
    void payloadChanged() {
        session.execute(this::write);
    }

    private void write() {
        Payloads.Payload payload = membership.payload();
        if (state != State.MEMBER || writing || !payload.isAfter(written)) {
            return;
        }
        writing = true;
        session.send(
                SetData.of(path, payload.data()).withVersion(version),
                stat -> {
                    writing = false;
                    version = stat.version();
                    written = payload;
                    membership.onWritten(this, payload);
                    write();
                },
                cause -> {
                    writing = false;
                    onNotWritten(payload, cause);
                });
    }

    private void onNotWritten(Payloads.Payload payload, Throwable cause) {
        if (state != State.MEMBER || Failures.isSessionOver(cause)) {
            return;
        }
        if (Failures.isNoNode(cause)) {
            onExpelled();
        } else if (cause instanceof OutcomeUnknownException || Failures.is(cause, RefusalReason.BAD_VERSION)) {
            watch(); // and then write, on the version that is there now: whether it was ours does not matter
        } else if (Failures.mayPass(cause)) {
            Retry.later(session, cause, this::write);
        } else {
            membership.onNotWritten(this, payload, cause);
        }
    }

    /** Leaves. Never blocks; any thread. */
    CompletionStage<Void> leave() {
        session.execute(() -> {
            if (state == State.GONE || state == State.LEAVING) {
                return;
            }
            boolean member = state == State.MEMBER;
            boolean taken = state == State.TAKEN;
            become(State.LEAVING);
            if (member) {
                leaveNow();
            } else if (taken) {
                removeWatch();
                finish();
            } else if (!busy) {
                finish(); // not begun yet
            }
        });
        return gone;
    }

    private void leaveNow() {
        if (czxid != 0) {
            delete();
        } else if (maybeCreated) {
            look();
        } else {
            finish();
        }
    }

    /**
     * Deletes our znode, and no other: on the connection on which it was created its name and version say enough, on a
     * later one it is looked at first, behind a sync.
     *
     * <p>One case remains, for no store deletes on condition of who has created: another client deletes our znode while
     * our deletion is on its way, and the next member with the id creates its own before that arrives. If that was
     * written as often as ours, as when neither payload was ever changed, it is deleted, and its member is told so.
     */
    private void delete() {
        if (session.connectionNumber() == takenOnConnection && session.state() == SessionState.CONNECTED) {
            delete(version);
        } else {
            readLatest(
                    path,
                    GetData.of(path),
                    node -> {
                        if (node.stat().czxid() == czxid) {
                            delete(node.stat().version());
                        } else {
                            finish();
                        }
                    },
                    this::onNotDeleted);
        }
    }

    private void delete(int ofVersion) {
        send(Delete.of(path).withVersion(ofVersion), done -> finish(), this::onNotDeleted);
    }

    private void onNotDeleted(Throwable cause) {
        if (cause instanceof OutcomeUnknownException || Failures.is(cause, RefusalReason.BAD_VERSION)) {
            takenOnConnection = -1; // it must be looked at: that connection has gone, or somebody has written
            delete();
        } else if (Failures.isNoNode(cause)) {
            finish();
        } else if (Failures.mayPass(cause)) {
            later(cause, this::delete);
        } else {
            LOG.warn("{}: cannot leave, {} stays until the session ends: {}", membership, path, cause.getMessage());
            finish();
        }
    }

    private void removeWatch() {
        session.unwatch(path, watcher);
    }

    @Override
    public String toString() {
        return "SessionMembership[" + path + ", " + state + ", " + session + "]";
    }
}
