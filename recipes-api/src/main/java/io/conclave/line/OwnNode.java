package io.conclave.line;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.Retry;
import io.conclave.request.GetData;
import io.conclave.request.Watcher;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A contender's own znode: which it is, whether it may be held, and a watch that tells when it is not there any more.
 *
 * <p>State belongs to the dispatcher; which znode it is may be asked from any thread.
 */
final class OwnNode {
    private static final long UNWATCHED = -1;

    private final Contender contender;
    private final RecipeSession session;
    private final Set<EntryKind> kinds;
    private final Watcher watcher = this::onEvent;
    private volatile @Nullable Znode znode; // written on the dispatcher only
    private int version; // as it was last read
    private long takenOnConnection = -1;
    private long watchedOnConnection = UNWATCHED;
    private boolean grantsWhenRead;

    /**
     * The znode.
     *
     * @param entry its place in the line
     * @param path where it is
     * @param czxid what tells it from another of the same name
     */
    record Znode(LineEntry entry, NodePath path, long czxid) {}

    /** Whether the client has read a place of its own in this session. State belongs to the dispatcher. */
    private static final class Readability {
        private boolean isProven;
    }

    OwnNode(Contender contender) {
        this.contender = contender;
        this.session = contender.session();
        this.kinds = Set.of(contender.role().kind());
    }

    /** The znode, once it is known. Any thread. */
    Optional<Znode> znode() {
        return Optional.ofNullable(znode);
    }

    /** The znode is known now. */
    void take(NodePath path, NodeStat stat) {
        LineEntry entry = LineEntry.parse(kinds, path.name())
                .orElseThrow(() -> new IllegalStateException(
                        "The backend created " + path + ", which is no place of " + kinds + " in a line"));
        znode = new Znode(entry, path, stat.czxid());
        version = stat.version();
        takenOnConnection = session.connectionNumber();
    }

    /** Whether the watch was set on this connection, and has not fired. */
    boolean isWatchedOn(long connection) {
        return watchedOnConnection == connection;
    }

    void watchUnlessWatched() {
        if (!isWatchedOn(session.connectionNumber())) {
            watch();
        }
    }

    /** Reads the znode and watches it; the contender is told if it is not ours (any more). */
    void watch() {
        Znode ours = znode;
        if (ours == null) {
            return;
        }
        contender.read(
                GetData.of(ours.path).withWatcher(watcher),
                node -> onRead(ours, node.stat(), node.data()),
                this::onNotWatched);
    }

    private void onRead(Znode ours, NodeStat stat, byte[] data) {
        if (stat.czxid() != ours.czxid || stat.ephemeralOwner() != session.id()) {
            contender.vanished();
            return;
        }
        watchedOnConnection = session.connectionNumber();
        readability().isProven = true;
        seen(stat, data);
        if (grantsWhenRead && contender.isBeforeGrant()) {
            grantsWhenRead = false;
            contender.grant();
        }
    }

    /**
     * Whether the znode can be read, by all that is known: a place that cannot be watched is none to hold. By the
     * coordinator's default ACL, or because one of this session was read. If that is not known, it is read now, and the
     * contender is granted then.
     */
    boolean mayBeHeld() {
        if (session.isReadByAll() || readability().isProven) {
            return true;
        }
        grantsWhenRead = true;
        watch();
        return false;
    }

    private Readability readability() {
        return session.keep(Readability.class, Readability::new);
    }

    // So far the way to the grant. From here on the hold, and what others do to the znode.

    /** The contender holds now: a hold that is over in a moment needs no watch. */
    void watchInAMoment() {
        if (!isWatchedOn(session.connectionNumber())) {
            YoungHolds.of(session).add(this);
        }
    }

    /** Whether the contender holds what may be lost. */
    boolean isHeld() {
        return contender.isHeld();
    }

    /** The moment is over, or the holder means to be told of a loss. */
    void watchHold() {
        contender.guarded(() -> {
            if (isHeld()) {
                watchUnlessWatched();
            }
        });
    }

    /** Whether the connection has been interrupted since the znode was created or found. */
    boolean isInterruptedSinceTaken() {
        return takenOnConnection != session.connectionNumber();
    }

    /** A refusal that may pass, as one by the bound of the session's queue, does not cost a holder its grant. */
    private void onNotWatched(Throwable cause) {
        if (isHeld()) {
            Retry.ifItMayPass(
                    session, contender, cause, () -> contender.guarded(this::watchIfHeld), this::onReadFailed);
        } else {
            onReadFailed(cause);
        }
    }

    /** Also if it is watched: what was overheard is asked again. */
    private void watchIfHeld() {
        if (isHeld()) {
            watch();
        }
    }

    /** What stands in the znode: nothing that was written before is unheard any more. */
    void seen(NodeStat stat, byte[] data) {
        version = stat.version();
        if (version > 0 && RevocationWord.isIn(data)) {
            contender.askedToGiveUp();
        }
    }

    /** The data version up to which what others have written into the znode was heard. */
    int version() {
        return version;
    }

    /** The znode cannot be read. */
    void onReadFailed(Throwable cause) {
        if (Failures.isNoNode(cause)) {
            contender.vanished();
        } else if (Failures.is(cause, RefusalReason.NO_AUTH)) {
            contender.fail(unreadable(cause));
        } else {
            contender.fail(cause);
        }
    }

    private RefusedException unreadable(Throwable cause) {
        String path = znode().map(ours -> ours.path().toString()).orElse(contender.what());
        RefusedException refusal = new RefusedException(
                RefusalReason.NO_AUTH,
                path + " cannot be held: this client has created it, but may not read it, and so would not hear of a "
                        + "loss. The default ACL of the coordinator must give READ to the client that creates");
        refusal.initCause(cause);
        return refusal;
    }

    private void onEvent(NodeEvent event) {
        contender.guarded(() -> {
            if (!contender.isInLine()) {
                return;
            }
            if (event.type() == NodeEvent.Type.DELETED) {
                contender.vanished();
            } else {
                watchedOnConnection = UNWATCHED; // it fired: until it is set again a deletion is not told
                watch();
            }
        });
    }
}
