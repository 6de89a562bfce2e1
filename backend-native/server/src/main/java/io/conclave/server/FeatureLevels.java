package io.conclave.server;

import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.time.TimeSource;
import io.conclave.tree.TreeState;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Switches new semantics on when all members understand them. Each member names its level in its notes to the leader,
 * and sends one now and then while the level in force is below its own; the leader proposes the lowest. All but the
 * timer belongs to the log's thread.
 */
final class FeatureLevels {
    private static final Logger LOG = LoggerFactory.getLogger(FeatureLevels.class);
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    private final int own;
    private final int memberId;
    private final ReplicatedLog log;
    private final Supplier<TreeState> state;
    private final LeaderTerm leaderTerm;
    private final HeartbeatBatcher heartbeats;
    private final TimeSource time;
    private final Map<Integer, Integer> levels = new HashMap<>();
    private ClusterConfiguration configuration = ClusterConfiguration.NONE;
    private int proposed;
    /** The log had no room: the next note is the occasion to try again. */
    private boolean notTaken;

    private final AtomicBoolean announcing = new AtomicBoolean();
    private volatile boolean stopped;

    FeatureLevels(
            int own,
            int memberId,
            ReplicatedLog log,
            Supplier<TreeState> state,
            LeaderTerm leaderTerm,
            HeartbeatBatcher heartbeats,
            TimeSource time) {
        this.own = own;
        this.memberId = memberId;
        this.log = log;
        this.state = state;
        this.leaderTerm = leaderTerm;
        this.heartbeats = heartbeats;
        this.time = time;
    }

    /**
     * Has the leader know this member's level: now, since it may have been a higher one before a restart, and until it
     * is in force. From any thread.
     */
    void announce() {
        tell();
        if (announcing.compareAndSet(false, true)) {
            time.schedule(INTERVAL, this::announceAgain);
        }
    }

    private void announceAgain() {
        if (stopped || state.get().featureLevel() >= own) {
            announcing.set(false);
        } else {
            tell();
            time.schedule(INTERVAL, this::announceAgain);
        }
    }

    private void tell() {
        if (!stopped && !leaderTerm.isAlone()) {
            heartbeats.whenConfirmed(() -> {});
        }
    }

    void stop() {
        stopped = true;
    }

    void lead(ClusterConfiguration present) {
        levels.clear();
        levels.put(memberId, own);
        configuration = present;
        proposed = 0;
        raise();
    }

    private void notTaken() {
        proposed = 0;
        notTaken = true;
    }

    void configured(ClusterConfiguration present) {
        configuration = present;
        // a member that comes back under its number may be of another version
        levels.keySet()
                .removeIf(member -> member != memberId && !present.members().containsKey(member));
        raise();
    }

    void noted(int member, int level) {
        Integer before = levels.put(member, level);
        if (before == null || before != level || notTaken) {
            raise();
        }
    }

    private void raise() {
        if (!leaderTerm.leads()) {
            return;
        }
        int lowest = own;
        for (Integer member : configuration.members().keySet()) {
            lowest = Math.min(lowest, levels.getOrDefault(member, 0));
        }
        if (lowest > state.get().featureLevel() && lowest > proposed) {
            LOG.info("All members understand feature level {}: switching it on", lowest);
            proposed = lowest;
            notTaken = false;
            if (!log.propose(new FeatureLevelProposal(lowest, this::notTaken))) {
                notTaken();
            }
        }
    }
}
