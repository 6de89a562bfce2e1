package io.conclave.server;

import io.conclave.consensus.Rejection;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.ChangeProposal;
import io.conclave.time.TimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.TreeState;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where this member leads, proposes now and then to delete the containers that have had children and have none, and the
 * nodes that have outlived their time to live. Whether one still is such a node is decided when the proposal is
 * applied, by the time of the log's entry; so a child or new data that come in between save it, on all members alike.
 *
 * <p>One step runs at a time.
 */
final class ContainerReaper {
    private static final Logger LOG = LoggerFactory.getLogger(ContainerReaper.class);
    /** The rest is for the next round: they are kept in memory until their turn. */
    private static final int MAX_IN_A_ROUND = 100_000;

    private final Reaping reaping;
    private final ReplicatedLog log;
    private final Supplier<TreeState> state;
    private final LeaderTerm leaderTerm;
    private final LongSupplier clock;
    private final Deque<String> found = new ArrayDeque<>();
    private final RepeatedStep steps;

    /**
     * @param clock the log's, in milliseconds since 1970
     * @param executor looks at all nodes that could be deleted, which may take a while
     */
    ContainerReaper(
            Reaping reaping,
            ReplicatedLog log,
            Supplier<TreeState> state,
            LeaderTerm leaderTerm,
            TimeSource time,
            LongSupplier clock,
            Executor executor) {
        this.reaping = reaping;
        this.log = log;
        this.state = state;
        this.leaderTerm = leaderTerm;
        this.clock = clock;
        this.steps = new RepeatedStep(time, executor, this::step);
    }

    void start() {
        steps.start(reaping.checkIntervalMs());
    }

    void stop() {
        steps.stop();
    }

    /** Returns when the next step is due. An error, such as a want of memory, does not end the checks. */
    private long step() {
        long paceMs = 0;
        try {
            paceMs = reaping.paceMs(goOn());
        } catch (RuntimeException | Error e) {
            LOG.error("Looking for znodes to delete failed; the next check starts from the beginning", e);
            found.clear();
        }
        return found.isEmpty() ? Math.max(reaping.checkIntervalMs(), paceMs) : paceMs;
    }

    /** Looks for nodes, or goes on with those that were found; says how many it proposed to delete. */
    private int goOn() {
        if (!leaderTerm.leads()) {
            found.clear();
            return 0;
        }
        if (found.isEmpty()) {
            look();
        }
        return propose();
    }

    private void look() {
        TreeState present = state.get();
        long nowMs = Math.max(clock.getAsLong(), present.lastTimeMs());
        found.addAll(present.reapable(nowMs, maxNeverUsedMs(present), MAX_IN_A_ROUND));
    }

    /** Earlier members do not know the limit. */
    private long maxNeverUsedMs(TreeState present) {
        return present.featureLevel() >= Change.TTL_FEATURE_LEVEL ? reaping.maxNeverUsedMs() : 0;
    }

    private int propose() {
        int proposed = 0;
        long maxNeverUsedMs = maxNeverUsedMs(state.get());
        while (proposed < reaping.batch() && !found.isEmpty()) {
            String path = found.remove();
            LOG.debug("Deleting {}, which is empty and not used any more", path);
            if (!log.propose(new Deletion(new Change.DeleteContainer(path, maxNeverUsedMs)))) {
                found.clear(); // there is no room in the log
                break;
            }
            proposed++;
        }
        return proposed;
    }

    private static final class Deletion extends ChangeProposal {
        Deletion(Change change) {
            super(change);
        }

        @Override
        public void rejected(Rejection reason) {
            LOG.debug("{} was not proposed: {}", change(), reason);
        }
    }
}
