package io.conclave.election;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.Retry;
import io.conclave.recovery.SessionFollower;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.Watcher;
import io.conclave.session.Registration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the leader to one listener, through all sessions of a coordinator. The last report stays until the next
 * session knows better.
 *
 * <p>One watch on the leader's znode: set by a read of the data while there is a leader, by a question for existence
 * while there is none.
 *
 * <p>Reading belongs to the dispatcher of the session that is followed. {@code lock} guards what was seen and reported;
 * nothing blocks while it is held.
 */
final class LeaderObservation implements Registration, SessionFollower.Work {
    private static final Logger LOG = LoggerFactory.getLogger(LeaderObservation.class);

    private final SessionFollower follower;
    private final NodePath path;
    private final Consumer<Optional<Leader>> listener;
    private final Watcher watcher = this::onEvent;
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private @Nullable Seen newest;
    private @Nullable Seen told;
    private boolean telling;
    private boolean closed;

    /**
     * A state that was seen; the same leader with other data is another one.
     *
     * @param czxid the creation of the leader's znode; -1 if there is none
     */
    private record Seen(long czxid, Optional<Leader> leader) {
        static final Seen NO_LEADER = new Seen(-1, Optional.empty());
    }

    LeaderObservation(Coordinator coordinator, NodePath election, Consumer<Optional<Leader>> listener) {
        this.follower = new SessionFollower(coordinator, this);
        this.path = election.child(LeaderNode.NAME);
        this.listener = listener;
    }

    /** Begins with the coordinator's present session. Never blocks. */
    void begin() {
        follower.follow();
    }

    @Override
    public void onSession(RecipeSession next) {
        read(next);
    }

    @Override
    public void onClosed() {
        LOG.debug("{}: the coordinator was closed", this);
    }

    private void read(RecipeSession on) {
        if (follower.isCurrent(on)) {
            on.send(
                    GetData.of(path).withWatcher(watcher),
                    node -> onLeader(on, node),
                    Failures.ifNoNode(() -> lookWhetherThere(on), cause -> onNotRead(on, cause)));
        }
    }

    private void lookWhetherThere(RecipeSession on) {
        if (follower.isCurrent(on)) {
            on.send(Exists.of(path).withWatcher(watcher), stat -> onLooked(on, stat), cause -> onNotRead(on, cause));
        }
    }

    private void onLooked(RecipeSession on, Optional<NodeStat> stat) {
        if (stat.isPresent()) {
            read(on);
        } else {
            onSeen(on, Seen.NO_LEADER);
        }
    }

    private void onLeader(RecipeSession on, GetData.NodeData node) {
        Optional<Leader> leader = LeaderRecord.leaderOf(node);
        if (leader.isEmpty()) {
            LOG.warn("{} is not the znode of a leader: its data is not a leader's, or it is not ephemeral", path);
        }
        onSeen(on, leader.isEmpty() ? Seen.NO_LEADER : new Seen(node.stat().czxid(), leader));
    }

    private void onNotRead(RecipeSession on, Throwable cause) {
        if (follower.isCurrent(on)) {
            Retry.always(on, path, cause, () -> read(on));
        }
    }

    private void onEvent(NodeEvent event) {
        switch (event.type()) {
            case DELETED -> lookWhetherThere(follower.session());
            case CREATED, DATA_CHANGED -> read(follower.session());
            case CHILDREN_CHANGED, WATCH_REMOVED -> {}
        }
    }

    private void onSeen(RecipeSession on, Seen seen) {
        if (!follower.isCurrent(on)) {
            return;
        }
        synchronized (lock) {
            if (closed) {
                return;
            }
            newest = seen;
            if (telling) {
                return; // the one that tells looks again when it is done
            }
            telling = true;
        }
        on.listenerThreads("observer of " + path).execute(this::tell);
    }

    private void tell() {
        for (Optional<Seen> next = next(); next.isPresent(); next = next()) {
            try {
                listener.accept(next.get().leader());
            } catch (Throwable e) { // Kotlin and Scala code may throw anything
                LOG.error("Observer {} of {} failed", listener, path, e);
            }
        }
    }

    private Optional<Seen> next() {
        synchronized (lock) {
            Seen next = newest;
            if (closed || next == null || next.equals(told)) {
                telling = false;
                return Optional.empty();
            }
            told = next;
            return Optional.of(next);
        }
    }

    @Override
    public void close() {
        synchronized (lock) {
            closed = true;
        }
        follower.execute(() -> {
            if (!follower.isEnded()) {
                follower.end();
                follower.session().unwatch(path, watcher);
            }
        });
    }

    @Override
    public String toString() {
        synchronized (lock) {
            return "LeaderObservation[" + path + ", " + (newest == null ? "not known yet" : newest.leader)
                    + (closed ? ", closed" : "") + "]";
        }
    }
}
