package io.conclave.line;

import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Sender;
import io.conclave.recovery.GuaranteedDelete;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Exchanges the znode of a contender that holds for one of another kind in the same place: a transaction that deletes
 * the one and creates the other, as an ordinary ephemeral with the same sequence written out. So nobody can ever stand
 * between them, and there is no moment without a znode.
 *
 * <pre>{@code
 * EXCHANGING <-> UNDECIDED        (the reply was lost: both names are read, and exactly one of them is there)
 *      |             |
 *      +-> SETTLED <-+            (exchanged; or refused, then all is as before; or the znode has vanished)
 * }</pre>
 *
 * <p>Until it is settled the znode's disappearance is nobody's loss ({@link Contender#vanished}), and a contender that
 * leaves waits for the answer, or searches for both names ({@link GuaranteedDelete}). State belongs to the dispatcher.
 */
final class Downgrade implements Sender {
    private static final Logger LOG = LoggerFactory.getLogger(Downgrade.class);

    private final Contender contender;
    private final RecipeSession session;
    private final NodePath line;
    private final OwnNode.Znode old;
    private final LineRole next;
    private final NodePath path;
    private final CompletableFuture<Contender> successor;
    private Phase phase = Phase.UNDECIDED;

    private enum Phase {
        /** The transaction was sent and not answered. */
        EXCHANGING,
        /** Which of the two znodes is there has to be found out. */
        UNDECIDED,
        /** Over. */
        SETTLED
    }

    private Downgrade(Contender contender, LineRole next, CompletableFuture<Contender> successor) {
        this.contender = contender;
        this.session = contender.session();
        this.line = contender.line();
        this.old = contender.ownNode().znode().orElseThrow();
        this.next = next;
        this.path = line.child(next.kind().nameOf(contender.guid())
                + contender.role().kind().digitsOf(old.entry().name()).orElseThrow());
        this.successor = successor;
    }

    /**
     * Lets a contender that holds go on in another role, without a gap. It is then released, and another one holds in
     * its place, with its token. Never blocks; any thread.
     *
     * <p>If a reply is lost, both names are read. If the contender leaves meanwhile, both are left; a znode that
     * somebody deletes meanwhile is lost.
     *
     * @param next a role in the same line, whose rule says "now" wherever the present one's does
     * @return completes on the dispatcher with the contender that holds; exceptionally with {@link RefusedException} if
     *     the backend refuses it (then the present one holds as before), {@link GrantLostException} if nothing is held,
     *     {@link ClosedException} if the contender left meanwhile, {@link SessionGoneException}
     */
    static CompletionStage<Contender> of(Contender contender, LineRole next) {
        if (!next.line().equals(contender.role().line())) {
            throw new IllegalArgumentException("Invalid role " + next.kind() + ": it must be one of the line of "
                    + contender.role().kind());
        }
        CompletableFuture<Contender> successor = new CompletableFuture<>();
        contender.session().execute(() -> begin(contender, next, successor));
        return successor;
    }

    /** Begins; the old znode is read first if the name may be another's by now. */
    private static void begin(Contender contender, LineRole next, CompletableFuture<Contender> successor) {
        if (!contender.isHeld() || contender.isBeingDowngraded()) {
            LossReason reason = contender.lossReason().orElse(LossReason.RELEASED);
            successor.completeExceptionally(new GrantLostException(
                    reason, contender.line().toString(), contender.line() + " is not held any more"));
            return;
        }
        Downgrade beginning = new Downgrade(contender, next, successor);
        contender.beginDowngrade(beginning);
        if (contender.ownNode().isInterruptedSinceTaken()) {
            beginning.readOld();
        } else {
            beginning.exchange();
        }
    }

    /** Whether an answer will come that says which znode is there. */
    boolean isExchanging() {
        return phase == Phase.EXCHANGING;
    }

    boolean isSettled() {
        return phase == Phase.SETTLED;
    }

    /** What goes wrong here must not leave the caller without an answer, nor the contender without its end. */
    @Override
    public <R> void send(Request<R> request, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        session.send(
                request,
                answer -> guarded(() -> onAnswer.accept(answer)),
                cause -> guarded(() -> onFailure.accept(cause)));
    }

    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LOG.error("{}: unexpected failure of {}", contender, this, e);
            boolean isAwaited = phase == Phase.EXCHANGING && !contender.isInLine(); // by the deletion
            phase = Phase.UNDECIDED; // no answer will come
            failFor(e);
            if (isAwaited) {
                contender.deletion().search();
            }
        }
    }

    private void exchange() {
        phase = Phase.EXCHANGING;
        Create create = Create.of(path).withData(contender.data()).withMode(CreateMode.EPHEMERAL);
        Delete delete = Delete.of(old.path()).withVersion(contender.ownNode().version());
        send(Multi.of(delete, create), this::onExchanged, this::onNotExchanged);
    }

    private void onExchanged(List<Multi.Result> results) {
        results.get(1).stat().ifPresentOrElse(this::succeed, this::findOut);
    }

    private void succeed(NodeStat stat) {
        phase = Phase.SETTLED;
        if (contender.isInLine()) {
            successor.complete(contender.downgradedTo(next, path, stat));
        } else { // left meanwhile: what the transaction created is deleted as well
            contender.deletion().found(List.of(path), stat.czxid());
            contender.deletion().delete();
            failAbandoned();
        }
    }

    private void onNotExchanged(Throwable cause) {
        if (cause instanceof OutcomeUnknownException || Failures.isNoNode(cause)) {
            findOut();
        } else if (Failures.is(cause, RefusalReason.BAD_VERSION)) {
            onWrittenMeanwhile();
        } else if (cause instanceof RefusedException refusal) {
            stayAsBefore(refusal);
        } else {
            failFor(cause);
        }
    }

    /**
     * Nothing was changed, because somebody has written into the znode what we have not heard: the wish that we give
     * up, which must not go with the znode.
     */
    private void onWrittenMeanwhile() {
        phase = Phase.UNDECIDED;
        if (contender.isInLine()) {
            readOld();
        } else {
            phase = Phase.SETTLED;
            contender.deletion().compareAndDelete();
            failAbandoned();
        }
    }

    /** Nothing was changed. What was overheard of the old znode meanwhile has to be asked again. */
    private void stayAsBefore(RefusedException refusal) {
        phase = Phase.SETTLED;
        if (contender.isInLine()) {
            contender.ownNode().watch();
            successor.completeExceptionally(refusal);
        } else {
            contender.deletion().compareAndDelete();
            failAbandoned();
        }
    }

    /**
     * The transaction took effect before the first answer on this connection, or never will: so one of the names is
     * there.
     */
    private void findOut() {
        phase = Phase.UNDECIDED;
        if (contender.isInLine()) {
            readNew();
        } else {
            phase = Phase.SETTLED;
            contender.deletion().search();
            failAbandoned();
        }
    }

    private void readNew() {
        readLatest(
                line,
                GetData.of(path),
                node -> {
                    if (!contender.isInLine()) {
                        failAbandoned(); // the deletion searches for itself
                    } else if (node.stat().ephemeralOwner() == session.id()) {
                        succeed(node.stat());
                    } else {
                        readOld();
                    }
                },
                Failures.ifNoNode(this::readOld, this::onNothingFoundOut));
    }

    private void readOld() {
        read(
                GetData.of(old.path()),
                node -> {
                    if (!contender.isInLine()) {
                        failAbandoned();
                    } else if (node.stat().czxid() == old.czxid()) {
                        contender.ownNode().seen(node.stat(), node.data());
                        exchange();
                    } else {
                        vanish();
                    }
                },
                Failures.ifNoNode(this::vanish, this::onNothingFoundOut));
    }

    private void onNothingFoundOut(Throwable cause) {
        if (!contender.isInLine()) {
            failAbandoned(); // the deletion searches for itself
        } else {
            failFor(cause);
        }
    }

    /** Neither is there. */
    private void vanish() {
        if (!contender.isInLine()) {
            failAbandoned(); // the deletion has deleted them
            return;
        }
        phase = Phase.SETTLED;
        contender.vanished();
        successor.completeExceptionally(
                lostException(LossReason.NODE_DELETED, old.path() + " was deleted before it became " + path));
    }

    /**
     * What cannot be mended: the contender goes, and searches for both names. A refusal is told as a loss, because it
     * does not hold as before.
     */
    private void failFor(Throwable cause) {
        contender.fail(cause);
        phase = Phase.SETTLED;
        boolean isLoss = cause instanceof SessionGoneException || cause instanceof ClosedException;
        successor.completeExceptionally(
                isLoss
                        ? cause
                        : new GrantLostException(
                                LossReason.REFUSED,
                                line.toString(),
                                "It cannot be found out whether " + old.path() + " was exchanged for " + path,
                                cause));
    }

    /** The contender has left: released, or because it has lost what it held. */
    private void failAbandoned() {
        phase = Phase.SETTLED;
        LossReason reason = contender.lost().toCompletableFuture().getNow(LossReason.RELEASED);
        String what = " before " + old.path() + " became " + path;
        successor.completeExceptionally(
                switch (reason) {
                    case RELEASED -> new ClosedException("Released" + what);
                    case COORDINATOR_CLOSED -> new ClosedException("The coordinator was closed" + what);
                    case SESSION_LOST -> new SessionGoneException("The session was lost" + what);
                    case NODE_DELETED, REVOKED, REFUSED, TIME_OVER ->
                        lostException(reason, "Lost, " + reason + "," + what);
                });
    }

    private GrantLostException lostException(LossReason reason, String message) {
        return new GrantLostException(reason, line.toString(), message);
    }

    @Override
    public String toString() {
        return "Downgrade[" + old.path() + " by " + path + ", " + phase + "]";
    }
}
