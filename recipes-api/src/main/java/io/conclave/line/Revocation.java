package io.conclave.line;

import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.RevocationOutcome;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.Retry;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.request.Watcher;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import io.conclave.spi.SerialExecutor;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a contender to give up what it holds or waits for, and waits until it has gone: the revocable lock of the
 * ZooKeeper recipes page, with its "laser beam" as an option.
 *
 * <p>How it goes: read the znode; if it is still the contender's (its czxid says so), write the word into it, on
 * condition of the version that was read; then read it with a watch until it has gone. At the deadline read it once
 * more and delete it, on condition of the version. A znode into which the word was written has a version larger than 0,
 * so neither a write that comes late nor the deletion can meet a new znode of the same name, as long as nobody writes
 * into that as well.
 *
 * <p>State belongs to the session's dispatcher.
 */
public final class Revocation {
    private static final Logger LOG = LoggerFactory.getLogger(Revocation.class);

    private final RecipeSession session;
    private final NodePath path;
    private final long czxid;
    private final byte[] word;
    private final Optional<Duration> deadline;
    private final CompletableFuture<RevocationOutcome> stage = new CompletableFuture<>();
    private final SerialExecutor listeners;
    private final Watcher watcher = this::onEvent;
    private Registration sessionListener = () -> {};
    private TimeSource.Timer timer = () -> {};
    private boolean isAsking;
    private boolean mayHaveAsked; // a word may have been written, or be there
    private int askedOfVersion; // of the last word
    private boolean mayHaveBeenOverwritten; // an earlier one may have been there until another client wrote
    private boolean asked;
    private boolean deadlineHasPassed;
    private boolean isDeleting;
    private boolean mayHaveDeleted;
    private boolean isOver;

    private Revocation(RecipeSession session, NodePath path, long czxid, byte[] word, Optional<Duration> deadline) {
        this.session = session;
        this.path = path;
        this.czxid = czxid;
        this.word = word.clone();
        this.deadline = deadline;
        this.listeners = session.listenerThreads(toString());
    }

    /**
     * Asks a contender to give up, and waits for it without a limit of time. Never blocks; any thread.
     *
     * @param session whose identities need READ and WRITE on the contender's znode, and for a deadline DELETE on the
     *     line's znode
     * @param path the contender's znode
     * @param czxid which incarnation of it; any other of that name is left alone
     * @param word one of {@link RevocationWord}
     * @return completes on a listener thread, exceptionally with what stopped it: {@link RefusedException}, {@link
     *     SessionGoneException}, {@link ClosedException}, or {@link OutcomeUnknownException} if it is closed before
     *     the word, or the deletion at the deadline, is answered. Ending it in another way stops waiting, and lifts the
     *     deadline; the word stays
     */
    public static CompletableFuture<RevocationOutcome> ask(
            RecipeSession session, NodePath path, long czxid, byte[] word) {
        return new Revocation(session, path, czxid, word, Optional.empty()).begin();
    }

    /**
     * As {@link #ask(RecipeSession, NodePath, long, byte[])}, but deletes the znode if it is still there at the
     * deadline.
     *
     * @param deadline counted from the moment when the word is known to be written
     * @throws IllegalArgumentException if the deadline is negative
     */
    public static CompletableFuture<RevocationOutcome> ask(
            RecipeSession session, NodePath path, long czxid, byte[] word, Duration deadline) {
        if (deadline.isNegative()) {
            throw new IllegalArgumentException("Invalid deadline " + deadline + ": it must not be negative");
        }
        return new Revocation(session, path, czxid, word, Optional.of(deadline)).begin();
    }

    private CompletableFuture<RevocationOutcome> begin() {
        stage.whenComplete((outcome, failure) -> session.execute(this::stop));
        session.execute(() -> {
            sessionListener = session.onStateChange(this::onSessionState);
            onSessionState(session.state());
            look();
        });
        return stage;
    }

    private void onSessionState(SessionState state) {
        if (!state.isLive()) {
            onUnanswered(Failures.sessionEnded(state, toString()));
        }
    }

    /** No answer comes any more. What was sent and not answered may have taken effect, whichever way we hear of it. */
    private void onUnanswered(Throwable end) {
        boolean isInDoubt = isDeleting || mayHaveDeleted || isAsking || (mayHaveAsked && !asked);
        fail(isInDoubt ? Failures.inDoubt(unknown(), end) : end);
    }

    /** Reads the znode; watched once there is nothing left to do but wait. */
    private void look() {
        if (!isOver) {
            GetData read = GetData.of(path);
            GetData watching = asked ? read.withWatcher(watcher) : read;
            if (mayHaveDeleted || (mayHaveAsked && !asked)) { // a server that lags would not show the effect
                session.readLatest(path, watching, this::onRead, this::onNotRead);
            } else {
                session.read(watching, this::onRead, this::onNotRead);
            }
        }
    }

    private void onNotRead(Throwable cause) {
        if (Failures.isNoNode(cause)) {
            finishAsGone();
        } else if (Failures.isSessionOver(cause)) {
            onUnanswered(cause);
        } else if (asked || mayHaveAsked || mayHaveDeleted) {
            Retry.lookAgain(session, this, unknown(), cause, this::look, this::fail);
        } else {
            fail(cause);
        }
    }

    private OutcomeUnknownException unknown() {
        boolean ofDeletion = isDeleting || mayHaveDeleted;
        return new OutcomeUnknownException((ofDeletion ? "Deleting " : "Asking ") + path
                + (ofDeletion ? " at the deadline" : " to give up") + ": it may have taken effect");
    }

    private void onRead(GetData.NodeData node) {
        if (isOver) {
            removeWatch();
        } else if (node.stat().czxid() != czxid) {
            finishAsGone();
            removeWatch(); // set on somebody else's
        } else if (deadlineHasPassed) {
            delete(node.stat().version());
        } else if (!asked && node.stat().version() > 0 && node.bytes().contentEquals(word)) {
            onAsked();
        } else if (!asked) {
            judgeLastWord(node.stat().version());
            write(node.stat().version());
        }
    }

    /**
     * The word is not there. If it was written, it was the first write after the version it was sent for, so it takes a
     * second one, by another client, to hide it. If it was not, it never will be.
     */
    private void judgeLastWord(int version) {
        mayHaveBeenOverwritten |= mayHaveAsked && version - askedOfVersion >= 2;
        mayHaveAsked = mayHaveBeenOverwritten;
    }

    private void write(int version) {
        isAsking = true;
        askedOfVersion = version;
        session.send(SetData.of(path, word).withVersion(version), this::onWritten, cause -> {
            isAsking = false;
            mayHaveAsked |= cause instanceof OutcomeUnknownException;
            onRefused(cause);
        });
    }

    private void onWritten(NodeStat stat) {
        isAsking = false;
        if (stat.czxid() != czxid) {
            finishAsGone();
        } else {
            onAsked();
        }
    }

    private void onAsked() {
        if (isOver) {
            return;
        }
        LOG.debug("{}: asked", this);
        asked = true;
        deadline.ifPresent(time -> timer = session.time().schedule(time, () -> session.execute(this::onDeadline)));
        look();
    }

    private void onDeadline() {
        deadlineHasPassed = true;
        look();
    }

    private void delete(int version) {
        if (isDeleting) {
            return;
        }
        isDeleting = true;
        mayHaveDeleted = false; // what was sent before has had no effect: it was there a moment ago
        session.send(
                Delete.of(path).withVersion(version),
                deleted -> {
                    LOG.info("{}: deleted at the deadline", this);
                    finish(RevocationOutcome.DELETED);
                },
                cause -> {
                    isDeleting = false;
                    mayHaveDeleted = cause instanceof OutcomeUnknownException;
                    onRefused(cause);
                });
    }

    /** Somebody was quicker: with another write, or by going. */
    private void onRefused(Throwable cause) {
        if (Failures.isNoNode(cause)) {
            finishAsGone();
        } else if (Failures.is(cause, RefusalReason.BAD_VERSION) || cause instanceof OutcomeUnknownException) {
            look();
        } else if (asked) { // to delete
            Retry.ifItMayPass(session, this, cause, this::look, this::fail);
        } else { // to ask: nobody waits for that, and the deadline would not begin
            fail(mayHaveAsked ? Failures.inDoubt(unknown(), cause) : cause);
        }
    }

    private void onEvent(NodeEvent event) {
        if (isOver || isDeleting) {
            return; // the answer to the deletion says whose it was
        }
        if (event.type() == NodeEvent.Type.DELETED) {
            finishAsGone();
        } else {
            look();
        }
    }

    private void finishAsGone() {
        if (mayHaveDeleted) {
            finish(RevocationOutcome.DELETED);
        } else {
            finish(asked || mayHaveAsked ? RevocationOutcome.RELEASED : RevocationOutcome.ALREADY_GONE);
        }
    }

    private void finish(RevocationOutcome outcome) {
        end(stage -> stage.complete(outcome));
    }

    private void fail(Throwable cause) {
        if (!isOver) {
            end(stage -> stage.completeExceptionally(cause));
            removeWatch(); // the znode may stay for long
        }
    }

    private void end(Consumer<CompletableFuture<RevocationOutcome>> completion) {
        if (!isOver) {
            close();
            listeners.execute(() -> completion.accept(stage));
        }
    }

    /** The caller does not want to know any more. */
    private void stop() {
        if (!isOver) {
            close();
            removeWatch();
        }
    }

    private void close() {
        isOver = true;
        timer.cancel();
        sessionListener.close();
    }

    private void removeWatch() {
        if (asked) {
            session.unwatch(path, watcher);
        }
    }

    @Override
    public String toString() {
        return "Revocation[" + path + ", 0x" + Long.toHexString(czxid)
                + deadline.map(time -> ", deadline " + time).orElse("") + "]";
    }
}
