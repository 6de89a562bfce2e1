package io.conclave.line;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.Bytes;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Sender;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.GuaranteedDelete;
import io.conclave.request.Create;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings contenders into several lines by one transaction, so that all their places are of one zxid, and takes them out
 * of their lines by one. Contenders that enter so stand in the same order in every line that they share, and therefore
 * cannot wait for each other in a circle.
 *
 * <p>What if the reply is lost? The transaction took effect before the first answer on the next connection, or never
 * will. So each line is listed behind a sync, and the guids tell. All places are there: they are taken. None is there:
 * the transaction is sent again. Some are there: another client has deleted the others, whose contenders fail. If the
 * transaction was refused for want of a line, the lines are made; for another reason, the contenders fail.
 *
 * <p>The same follows when a contender enters one line by itself, and its creation is not answered, or is refused
 * ({@link #recover}).
 *
 * <p>From the transaction on each contender is on its own. If one fails or leaves, its owner takes the others out of
 * their lines. State belongs to the session's dispatcher.
 */
public final class JointEntry {
    private static final Logger LOG = LoggerFactory.getLogger(JointEntry.class);

    private final RecipeSession session;
    private final List<Contender> contenders;

    /**
     * A place to have.
     *
     * @param line the line's znode; made if it is missing: of containers, in the layout of kazoo persistent
     * @param role as what the contender stands there
     * @param data what others see of the contender
     */
    public record Part(NodePath line, LineRole role, Bytes data) {}

    private JointEntry(RecipeSession session, List<Contender> contenders) {
        this.session = session;
        this.contenders = contenders;
    }

    /**
     * Enters the lines. Never blocks.
     *
     * @param session the session that will own the places
     * @param parts one for each line; no two of one line, because the second would wait for the first
     * @param patient false to leave a line at once where somebody must be waited for; see {@link Contender#enter}
     * @return the contenders, in the order of the parts
     */
    public static List<Contender> enter(RecipeSession session, List<Part> parts, boolean patient) {
        List<Contender> contenders = parts.stream()
                .map(part -> Contender.outside(session, part.line, part.role, part.data.toArray(), patient))
                .toList();
        JointEntry entry = new JointEntry(session, contenders);
        session.execute(() -> entry.guarded(entry::begin));
        return contenders;
    }

    /**
     * Takes contenders out of their lines, or gives their grants up: deletes the znodes in one transaction, as far as
     * they are known. To be called on the dispatcher of the session that the contenders have in common.
     *
     * @param why what the grants fail with that were not given yet
     */
    public static void leave(List<Contender> contenders, ConclaveException why) {
        List<GuaranteedDelete> deletions = new ArrayList<>();
        for (Contender contender : contenders) {
            contender.depart(why, LossReason.RELEASED, deletions::add);
        }
        if (!deletions.isEmpty()) {
            GuaranteedDelete.deleteTogether(contenders.get(0).session(), deletions);
        }
    }

    /** What follows the creation of a contender by itself that was not answered, or was refused. */
    static void recover(Contender contender, Throwable cause) {
        new JointEntry(contender.session(), List.of(contender)).onNotCreated(cause);
    }

    private void begin() {
        contenders.forEach(contender -> {
            contender.tie();
            contender.measurements().waits();
        });
        if (session.state().isLive()) {
            create();
        } else {
            contenders.forEach(contender -> contender.sessionIs(session.state()));
        }
    }

    /** Creates the znodes, and lists the lines right behind it: its answer comes first. */
    private void create() {
        if (isAlone()) {
            contenders.get(0).waiter().create();
            return;
        }
        List<Create> creations =
                contenders.stream().map(one -> one.waiter().beginCreation()).toList();
        session.send(
                new Multi(List.copyOf(creations)),
                results -> guarded(() -> onCreated(results)),
                cause -> guarded(() -> onNotCreated(cause)));
        contenders.forEach(one -> one.waiter().look());
    }

    private void onCreated(List<Multi.Result> results) {
        if (results.stream().anyMatch(result -> result.stat().isEmpty())) {
            onNotCreated(new OutcomeUnknownException("Created, but the store did not tell the stat")); // ZooKeeper 3.5
            return;
        }
        for (int i = 0; i < contenders.size(); i++) {
            Multi.Result result = results.get(i);
            contenders
                    .get(i)
                    .waiter()
                    .onCreated(result.path().orElseThrow(), result.stat().orElseThrow());
        }
    }

    // So far the entry. From here on, what can come in between.

    /** A step that throws would leave places behind that block others. */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LOG.error("{}: unexpected failure", this, e);
            contenders.forEach(contender -> {
                contender.waiter().endCreation(); // so that its departure looks for its znode
                contender.fail(e);
            });
        }
    }

    private boolean isAlone() {
        return contenders.size() == 1;
    }

    private boolean isWanted() {
        return contenders.stream().allMatch(Contender::isInLine);
    }

    private void onNotCreated(Throwable cause) {
        contenders.forEach(one -> one.waiter().endCreation());
        if (cause instanceof OutcomeUnknownException) {
            if (isWanted()) {
                findOut();
            } else {
                searchAndDelete();
            }
        } else if (Failures.isNoNode(cause) && isWanted()) {
            makeLines();
        } else {
            failWithoutZnodes(cause);
        }
    }

    /** One has left while the transaction was on its way: the others do, and each deletes what it may have. */
    private void searchAndDelete() {
        for (Contender contender : contenders) {
            if (contender.isInLine()) {
                contender.depart(abandoned(), LossReason.RELEASED);
            } else {
                contender.deletion().search();
            }
        }
    }

    private void makeLines() {
        Waiting.all(contenders.stream().map(one -> one.role().makeLine(session, one.line())))
                .whenComplete((made, failure) -> guarded(() -> onLines(failure)));
    }

    private void onLines(@Nullable Throwable failure) {
        if (failure == null && isWanted()) {
            create();
        } else {
            failWithoutZnodes(failure == null ? abandoned() : Waiting.cause(failure));
        }
    }

    /** There is nothing to delete. */
    private void failWithoutZnodes(Throwable cause) {
        contenders.forEach(one -> one.end(LossReason.REFUSED, one.known(cause)));
    }

    private static ClosedException abandoned() {
        return new ClosedException("Abandoned");
    }

    /** The names in the lines tell whether the transaction took effect. */
    private void findOut() {
        askEach(this::placeOf, this::onListed);
    }

    private CompletableFuture<Optional<NodePath>> placeOf(Contender contender) {
        CompletableFuture<Optional<NodePath>> found = new CompletableFuture<>();
        contender.measurements().recovering();
        contender.readLatest(
                contender.line(),
                GetChildren.of(contender.line()),
                // the deletion of one that has left searches for itself
                children -> found.complete(
                        contender.isInLine() ? contender.placeAmong(children.names()) : Optional.empty()),
                Failures.ifNoNode(() -> found.complete(Optional.empty()), contender::fail));
        return found;
    }

    private void onListed(List<Optional<NodePath>> found) {
        if (!isWanted()) {
            return; // those who leave search for themselves
        }
        if (found.stream().allMatch(Optional::isEmpty)) {
            create();
        } else if (found.stream().allMatch(Optional::isPresent)) {
            LOG.debug("{}: found again after a lost reply: {}", this, found);
            readFound(found.stream().map(Optional::orElseThrow).toList());
        } else {
            for (int i = 0; i < contenders.size(); i++) {
                if (found.get(i).isEmpty()) {
                    contenders.get(i).vanished();
                }
            }
        }
    }

    private void readFound(List<NodePath> paths) {
        askEach(
                contender -> statOf(paths.get(contenders.indexOf(contender)), contender),
                stats -> onFound(paths, stats));
    }

    /** If the reply is lost: one alone looks for its place anew; of several each is read again. */
    private CompletableFuture<NodeStat> statOf(NodePath path, Contender contender) {
        CompletableFuture<NodeStat> stat = new CompletableFuture<>();
        Sender sender = isAlone() ? contender : contender::read;
        sender.send(GetData.of(path), node -> stat.complete(node.stat()), cause -> {
            if (cause instanceof OutcomeUnknownException && isWanted()) {
                findOut();
            } else {
                contender.ownNode().onReadFailed(cause);
            }
        });
        return stat;
    }

    private void onFound(List<NodePath> paths, List<NodeStat> stats) {
        if (!isWanted()) {
            return;
        }
        if (stats.stream().map(NodeStat::czxid).distinct().count() > 1) { // what is proven of one zxid does not hold
            contenders.forEach(one -> one.fail(new GrantLostException(
                    LossReason.NODE_DELETED,
                    one.line().toString(),
                    "Some places of " + this + " were deleted by another client while they were entered")));
            return;
        }
        for (int i = 0; i < contenders.size(); i++) {
            Contender contender = contenders.get(i);
            contender.take(paths.get(i), stats.get(i));
            contender.waiter().look();
        }
    }

    /** Asks something for each contender, and goes on when there are all answers. Not if one fails instead. */
    private <R> void askEach(Function<Contender, CompletableFuture<R>> ask, Consumer<List<R>> onAnswers) {
        Waiting.all(contenders.stream().map(ask)).thenAccept(answers -> guarded(() -> onAnswers.accept(answers)));
    }

    @Override
    public String toString() {
        return isAlone() ? contenders.get(0).toString() : contenders.toString();
    }
}
