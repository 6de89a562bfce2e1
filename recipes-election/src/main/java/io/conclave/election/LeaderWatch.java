package io.conclave.election;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.coordinator.Registration;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.spi.Exists;
import io.conclave.spi.GetData;
import io.conclave.spi.RemoveWatch;
import io.conclave.spi.SessionState;
import io.conclave.spi.Watcher;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at an election's acknowledgement during one session: one watch, set by a read of the data while there is a leader, by a question for existence while there is none.
 *
 * <p>State belongs to the session's dispatcher.
 */
final class LeaderWatch {
    private static final Logger LOG = LoggerFactory.getLogger(LeaderWatch.class);
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    private final LeaderObservation observation;
    private final RecipeSession session;
    private final NodePath path;
    private final Watcher watcher = this::onEvent; // one object, so that setting it again is no second watch
    private Registration sessionListener = () -> {};
    private boolean ended;

    LeaderWatch(LeaderObservation observation, RecipeSession session, NodePath path) {
        this.observation = observation;
        this.session = session;
        this.path = path;
    }

    RecipeSession session() {
        return session;
    }

    /** Never blocks; any thread. */
    void begin() {
        session.execute(() -> {
            sessionListener = session.onStateChange(this::onSessionState);
            if (session.state() == SessionState.LOST) {
                onSessionState(SessionState.LOST);
            } else {
                read();
            }
        });
    }

    private void onSessionState(SessionState next) {
        if (!ended && !next.isLive()) {
            ended = true;
            sessionListener.close();
            if (next == SessionState.LOST) {
                observation.onSessionLost(this);
            }
        }
    }

    private void read() {
        if (!ended) {
            session.send(GetData.of(path).withWatcher(watcher), this::onLeader, cause -> {
                if (Refusals.isNoNode(cause)) {
                    lookWhetherThere();
                } else {
                    onNotRead(cause);
                }
            });
        }
    }

    private void lookWhetherThere() {
        if (!ended) {
            session.send(Exists.of(path).withWatcher(watcher), this::onLooked, this::onNotRead);
        }
    }

    private void onLooked(Optional<NodeStat> stat) {
        if (stat.isPresent()) {
            read();
        } else if (!ended) {
            observation.onSeen(this, LeaderObservation.Seen.NOBODY);
        }
    }

    private void onLeader(GetData.NodeData node) {
        if (ended) {
            return;
        }
        Optional<Leader> leader = AcknowledgementRecord.leaderOf(node);
        if (leader.isEmpty()) {
            LOG.warn("{} is no acknowledgement of a leader: its data is not one, or it is not ephemeral", path);
        }
        observation.onSeen(
                this,
                leader.isEmpty()
                        ? LeaderObservation.Seen.NOBODY
                        : new LeaderObservation.Seen(node.stat().czxid(), leader));
    }

    private void onNotRead(Throwable cause) {
        if (ended || cause instanceof SessionGoneException || cause instanceof ClosedException) {
            return; // the session's state tells what follows
        }
        if (cause instanceof OutcomeUnknownException) {
            read();
        } else {
            LOG.warn("Cannot read {}, trying again: {}", path, cause.getMessage());
            session.time().schedule(RETRY_DELAY, () -> session.execute(this::read));
        }
    }

    private void onEvent(NodeEvent event) {
        switch (event.type()) {
            case DELETED -> lookWhetherThere();
            case CREATED, DATA_CHANGED -> read();
            case CHILDREN_CHANGED, WATCH_REMOVED -> {}
        }
    }

    /** Nobody observes any more. Never blocks; any thread. */
    void end() {
        session.execute(() -> {
            if (!ended) {
                ended = true;
                sessionListener.close();
                removeWatch();
            }
        });
    }

    private void removeWatch() {
        session.send(new RemoveWatch(path, watcher), removed -> {}, cause -> {
            if (cause instanceof OutcomeUnknownException) {
                removeWatch();
            }
        });
    }
}
