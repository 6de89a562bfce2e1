package io.conclave.election;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.line.EntryKind;
import io.conclave.line.LineMember;
import io.conclave.line.LineView;
import io.conclave.line.LossInterrupt;
import io.conclave.line.RevocationWord;
import io.conclave.node.Bytes;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.request.Watcher;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt of a leader to hand over to a named candidate.
 *
 * <p>The line is read once. No candidate comes between the leader and the named one after that: every new one enters at
 * the end, also those that step back. So it is enough to ask each of those that are there now, to watch each until it
 * has gone, and to watch the named one.
 *
 * <p>State belongs to the session's dispatcher.
 */
final class TransferAttempt {
    private static final Logger LOG = LoggerFactory.getLogger(TransferAttempt.class);
    private static final int UNKNOWN = -1;

    private final Campaign leader;
    private final NodePath leadersPlace;
    private final RecipeSession session;
    private final NodePath election;
    private final Candidate named;
    private final @Nullable LossInterrupt requester = LossInterrupt.current();
    private final CompletableFuture<Void> outcome = new CompletableFuture<>();
    private final Map<NodePath, InBetween> inBetween = new LinkedHashMap<>();
    private @Nullable Departing namedWatch;
    private boolean isAtOnce;
    private boolean over;

    /** Watches one znode until it has gone. */
    private class Departing {
        final NodePath path;
        private final Runnable onGone;
        private final Watcher watcher = this::onEvent;

        Departing(NodePath path, Runnable onGone) {
            this.path = path;
            this.onGone = onGone;
        }

        void watch() {
            if (!over) {
                session.read(GetData.of(path).withWatcher(watcher), this::onRead, this::onNotRead);
            }
        }

        private void onRead(GetData.NodeData present) {
            if (over) {
                remove();
            }
        }

        private void onNotRead(Throwable cause) {
            if (Failures.isNoNode(cause)) {
                onGone.run();
            } else {
                fail(new TransferFailedException("Cannot watch " + path + ": " + cause.getMessage(), cause));
            }
        }

        private void onEvent(NodeEvent event) {
            if (event.type() == NodeEvent.Type.DELETED) {
                onGone.run();
            } else {
                watch();
            }
        }

        void remove() {
            session.unwatch(path, watcher);
        }
    }

    /** A candidate between the leader and the named one, which is asked to step back. */
    private final class InBetween extends Departing {
        private final Candidate candidate;
        private final Bytes data;
        private final int listedVersion;
        private int askedVersion = UNKNOWN;
        private boolean mayHaveAsked;

        InBetween(LineMember member) {
            super(member.path(), () -> onSteppedBack(member.path()));
            this.candidate = Candidate.of(member);
            this.data = member.bytes();
            this.listedVersion = member.stat().version();
        }

        void ask() {
            if (!over) {
                session.send(SetData.of(path, RevocationWord.bytes()), this::onAsked, this::onNotAsked);
            }
        }

        private void onAsked(NodeStat stat) {
            askedVersion = stat.version();
            if (over) {
                takeBack();
            }
        }

        private void onNotAsked(Throwable cause) {
            if (cause instanceof OutcomeUnknownException) {
                mayHaveAsked = true;
                if (over) {
                    takeBack();
                } else {
                    ask();
                }
            } else if (!Failures.isNoNode(cause)) { // the watch shows the ones that are gone
                fail(new TransferFailedException(
                        "Cannot ask " + candidate + " to step back: " + cause.getMessage(), cause));
            }
        }

        /**
         * What others see of the candidate is put back, unless it was changed meanwhile; no candidate must step back
         * later for what has failed.
         */
        void takeBack() {
            if (askedVersion != UNKNOWN) {
                session.send(new SetData(path, data, askedVersion), done -> {}, this::onNotTakenBack);
            } else if (mayHaveAsked) {
                session.readLatest(path, GetData.of(path), this::onFound, cause -> {}); // it has gone
            } // else the answer finds us over, or there is none to take back
        }

        private void onNotTakenBack(Throwable cause) {
            if (cause instanceof OutcomeUnknownException) {
                takeBack();
            }
        }

        /** Whether our word stands there. */
        private void onFound(GetData.NodeData present) {
            if (present.stat().czxid() == candidate.sequence()
                    && present.stat().version() > listedVersion
                    && present.bytes().contentEquals(RevocationWord.bytes())) {
                askedVersion = present.stat().version();
                takeBack();
            }
        }
    }

    private TransferAttempt(Campaign leader, NodePath leadersPlace, Candidate named) {
        this.leader = leader;
        this.leadersPlace = leadersPlace;
        this.session = leader.session();
        this.election = leader.election();
        this.named = named;
    }

    /** Begins to hand over. Never blocks. */
    static TransferAttempt begin(Campaign leader, NodePath leadersPlace, Candidate named, Optional<Duration> timeout) {
        timeout.ifPresent(Waiting::checkedTimeout);
        TransferAttempt attempt = new TransferAttempt(leader, leadersPlace, named);
        attempt.isAtOnce = timeout.filter(Duration::isZero).isPresent();
        attempt.session.execute(attempt::start);
        timeout.ifPresent(attempt::limit);
        return attempt;
    }

    /** With a limit of zero nobody is asked to step back: the line tells, as soon as the store does. */
    private void limit(Duration timeout) {
        Runnable end = isAtOnce ? this::onNoAnswer : () -> onTimeout(timeout);
        Duration time = isAtOnce ? session.tryTimeout() : timeout;
        TimeSource.Timer timer = session.time().schedule(time, () -> session.execute(end));
        outcome.whenComplete((done, failure) -> timer.cancel());
    }

    private void onNoAnswer() {
        fail(session.noAnswer(
                "whether " + named + " is next in " + election, "The leader stays leader, and can try again later"));
    }

    private void start() {
        leader.begins(this);
        if (over) {
            return;
        }
        Waiting.whenDone(LineView.read(session, election, Set.of(EntryKind.MUTEX)), this::onLine, this::fail);
    }

    /** The leader leads no more. On the dispatcher. */
    void onLost(LossReason reason) {
        fail(new GrantLostException(
                reason,
                election.toString(),
                "The leadership of " + election + " ended (" + reason + ") before it was handed over"));
    }

    private void onLine(List<LineMember> line) {
        if (over) {
            return;
        }
        List<LineMember> before = new ArrayList<>();
        Optional<LineMember> target = Optional.empty();
        for (LineMember member : line) {
            if (named.isAt(member)) {
                target = Optional.of(member);
                break;
            }
            before.add(member);
        }
        before.removeIf(member -> member.path().equals(leadersPlace));
        if (named.path().equals(leadersPlace)) {
            fail(new TransferFailedException(named + " leads " + election + " already"));
        } else if (target.isEmpty()) {
            failAsGone();
        } else if (isAtOnce && !before.isEmpty()) {
            failAsNotNext(Duration.ZERO, before.stream().map(Candidate::of).toList());
        } else {
            LOG.debug("{}: handing over to {}, behind {} others", election, named, before.size());
            Departing departing = new Departing(named.path(), this::failAsGone);
            namedWatch = departing;
            departing.watch();
            before.forEach(member -> inBetween.put(member.path(), new InBetween(member)));
            List.copyOf(inBetween.values()).forEach(one -> {
                one.ask();
                one.watch();
            });
            resignIfNext();
        }
    }

    private void onSteppedBack(NodePath path) {
        if (!over && inBetween.remove(path) != null) {
            resignIfNext();
        }
    }

    private void resignIfNext() {
        if (!over && inBetween.isEmpty()) {
            over = true;
            leader.ends(this);
            stopWatching();
            LOG.info("{}: handing over to {}", leader, named);
            session.metrics().count("election.transferred", election.toString());
            leader.leaveFor(requester, new ClosedException("Handed over")).thenRun(() -> outcome.complete(null));
        }
    }

    private void onTimeout(Duration timeout) {
        failAsNotNext(timeout, inTheWay());
    }

    private void failAsNotNext(Duration timeout, List<Candidate> inTheWay) {
        fail(new TransferFailedException(
                named + " is not next in " + election + " within " + timeout + "; in the way: " + inTheWay));
    }

    private List<Candidate> inTheWay() {
        return inBetween.values().stream().map(one -> one.candidate).toList();
    }

    private void failAsGone() {
        fail(new TransferFailedException(named + " is not in the line of " + election + " any more"));
    }

    private void fail(Throwable cause) {
        if (over) {
            return;
        }
        over = true;
        leader.ends(this);
        if (session.state().isLive()) {
            stopWatching();
            inBetween.values().forEach(InBetween::takeBack);
        }
        outcome.completeExceptionally(cause);
    }

    private void stopWatching() {
        if (namedWatch != null) {
            namedWatch.remove();
        }
        inBetween.values().forEach(Departing::remove);
    }

    private void giveUp() {
        ConclaveException why = new ClosedException("The hand-over of " + election + " was given up");
        session.execute(() -> fail(why));
    }

    /** The asynchronous form: completes on a listener thread; ending it in another way gives the hand-over up. */
    CompletableFuture<Void> stage() {
        CompletableFuture<Void> stage = session.onListenerThread("hand-over of " + election, outcome);
        stage.whenComplete((done, failure) -> {
            if (failure != null) {
                giveUp();
            }
        });
        return stage;
    }

    /** The blocking form; if it throws, the leader stays leader. */
    void await() throws InterruptedException {
        try {
            Waiting.await(session, outcome);
        } catch (InterruptedException | RuntimeException | Error e) {
            giveUp();
            throw e;
        }
    }

    @Override
    public String toString() {
        return "TransferAttempt[" + election + ", to " + named + ", behind "
                + inTheWay().size() + "]";
    }
}
