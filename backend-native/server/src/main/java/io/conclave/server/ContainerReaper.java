package io.conclave.server;

import io.conclave.consensus.Rejection;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.ChangeProposal;
import io.conclave.time.TimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.TreeState;
import java.time.Duration;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where this member leads, proposes now and then to delete the containers that have had children and have none. Whether one is still empty is
 * decided when the proposal is applied, so a child that comes in between saves its parent.
 */
final class ContainerReaper {
    private static final Logger LOG = LoggerFactory.getLogger(ContainerReaper.class);
    /** So that a mass of them does not crowd clients out; the rest is for the next round. */
    private static final int MOST_AT_ONCE = 1000;

    private final ReplicatedLog log;
    private final Supplier<TreeState> state;
    private final Reign reign;
    private final TimeSource time;
    private final Duration interval;
    private volatile boolean stopped;

    ContainerReaper(ReplicatedLog log, Supplier<TreeState> state, Reign reign, TimeSource time, Duration interval) {
        this.log = log;
        this.state = state;
        this.reign = reign;
        this.time = time;
        this.interval = interval;
    }

    void start() {
        time.schedule(interval, this::round);
    }

    void stop() {
        stopped = true;
    }

    private void round() {
        if (stopped) {
            return;
        }
        if (reign.leads()) {
            proposeDeletions();
        }
        time.schedule(interval, this::round);
    }

    private void proposeDeletions() {
        for (String path : state.get().emptyContainers(MOST_AT_ONCE)) {
            LOG.debug("Deleting the empty container {}", path);
            if (!log.propose(new Deletion(path))) {
                break;
            }
        }
    }

    private static final class Deletion extends ChangeProposal {
        Deletion(String path) {
            super(new Change.DeleteContainer(path));
        }

        @Override
        public void rejected(Rejection reason) {
            LOG.debug("{} was not proposed: {}", change(), reason);
        }
    }
}
