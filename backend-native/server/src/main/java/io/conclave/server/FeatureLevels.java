package io.conclave.server;

import io.conclave.connection.FeatureLevelService;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.time.TimeSource;
import io.conclave.tree.TreeState;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts new semantics in force when all members understand them and the operator does not want the earlier software back
 * any more: when a command says so, or after a time. A new cluster has no earlier software, so there it is at once.
 *
 * <p>Each member names its level in its notes to the leader, and sends one now and then while the level in force is
 * below its own; the leader proposes the lowest. All but the timer belongs to the log's thread.
 */
final class FeatureLevels implements FeatureLevelService {
    private static final Logger LOG = LoggerFactory.getLogger(FeatureLevels.class);
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration LOOK_AGAIN = Duration.ofMillis(50);
    private static final Duration LIMIT = Duration.ofSeconds(30);
    /** A member that has been silent for so long may be about to come back with other software. */
    private static final Duration FORGOTTEN_AFTER = Duration.ofSeconds(30);

    private static final int NEW_CLUSTER = TreeState.INITIAL_FEATURE_LEVEL;

    /** What a member has said of itself, and when. */
    private record Noted(int level, long nanos) {}

    private final int own;
    private final int memberId;
    private final Optional<Duration> delay;
    private final ReplicatedLog log;
    private final Supplier<TreeState> state;
    private final LeaderTerm leaderTerm;
    private final HeartbeatBatcher heartbeats;
    private final TimeSource time;
    private final Map<Integer, Noted> levels = new HashMap<>();
    private ClusterConfiguration configuration = ClusterConfiguration.NONE;

    /** What all members have understood since {@link #understoodNanos}; the level in force or less: nothing new. */
    private int understood;

    private long understoodNanos;
    private int proposed;

    private final AtomicBoolean announcing = new AtomicBoolean();
    private volatile boolean stopped;

    /** @param delay how long a new level waits for an operator, who may go back; empty to wait until one raises it */
    FeatureLevels(
            int own,
            int memberId,
            Optional<Duration> delay,
            ReplicatedLog log,
            Supplier<TreeState> state,
            LeaderTerm leaderTerm,
            HeartbeatBatcher heartbeats,
            TimeSource time) {
        this.own = own;
        this.memberId = memberId;
        this.delay = delay;
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
        if (stopped) {
            return;
        }
        if (leaderTerm.isAlone()) {
            log.readBarrier(this::raiseIfDue);
        } else {
            heartbeats.whenConfirmed(() -> {});
        }
    }

    void stop() {
        stopped = true;
    }

    void lead(ClusterConfiguration present) {
        levels.clear();
        configuration = present;
        understood = 0;
        proposed = 0;
        raiseIfDue();
    }

    private void notTaken() {
        proposed = 0;
    }

    void configured(ClusterConfiguration present) {
        configuration = present;
        // a member that comes back under its number may be of another version
        levels.keySet().retainAll(present.members().keySet());
        raiseIfDue();
    }

    void noted(int member, int level) {
        levels.put(member, new Noted(level, time.monotonicNanos()));
        raiseIfDue();
    }

    private void raiseIfDue() {
        int inForce = state.get().featureLevel();
        int lowest = lowest();
        if (!leaderTerm.leads() || lowest <= inForce) {
            understood = 0;
            return;
        }
        if (lowest != understood) {
            understood = lowest;
            understoodNanos = time.monotonicNanos();
            if (inForce != NEW_CLUSTER) {
                LOG.info(
                        "All members understand feature level {}, and level {} is in force. {}; until then the earlier"
                                + " software can be put back",
                        lowest,
                        inForce,
                        delay.map(some -> "It is raised in " + some.toSeconds() + " s, or by raise-level before")
                                .orElse("It is raised by raise-level"));
            }
        }
        Duration waited = Duration.ofNanos(time.monotonicNanos() - understoodNanos);
        if (inForce == NEW_CLUSTER
                || delay.filter(some -> waited.compareTo(some) >= 0).isPresent()) {
            propose(lowest);
        }
    }

    /** What all members understand, as far as they have told this leader. */
    private int lowest() {
        return configuration.members().keySet().stream().mapToInt(this::levelOf).reduce(own, Math::min);
    }

    /** 0 of one that has not said it lately. */
    private int levelOf(int member) {
        if (member == memberId) {
            return own;
        }
        Noted noted = levels.get(member);
        return noted == null || time.monotonicNanos() - noted.nanos > FORGOTTEN_AFTER.toNanos() ? 0 : noted.level;
    }

    private void propose(int level) {
        if (level > proposed) {
            LOG.info("Putting feature level {} in force", level);
            proposed = level;
            if (!log.propose(new FeatureLevelProposal(level, this::notTaken))) {
                notTaken();
            }
        }
    }

    // ---- for the operator

    @Override
    public CompletionStage<String> raise() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        if (!log.readBarrier(() -> raiseNow(answer))) {
            answer.complete(NOT_RAISED + "the log takes nothing now");
        }
        return answer;
    }

    private void raiseNow(CompletableFuture<String> answer) {
        int inForce = state.get().featureLevel();
        int lowest = lowest();
        if (!leaderTerm.leads()) {
            answer.complete(NOT_RAISED + "server " + log.status().leader() + " leads; ask there");
        } else if (lowest <= inForce) {
            answer.complete(
                    lowest < own
                            ? NOT_RAISED + "level " + own + " is not understood by all, or not yet known to be: "
                                    + levelsByMember()
                            : "Feature level " + inForce + " is in force, which is all that the members understand");
        } else {
            propose(lowest);
            look(lowest, time.monotonicNanos(), answer);
        }
    }

    private Map<Integer, Integer> levelsByMember() {
        Map<Integer, Integer> known = new TreeMap<>();
        configuration.members().keySet().forEach(member -> known.put(member, levelOf(member)));
        return known;
    }

    private void look(int level, long sinceNanos, CompletableFuture<String> answer) {
        if (state.get().featureLevel() >= level) {
            answer.complete("Feature level " + level + " is in force");
        } else if (time.monotonicNanos() - sinceNanos > LIMIT.toNanos()) {
            answer.complete(NOT_RAISED + "within " + LIMIT.toSeconds() + " s; it may still be");
        } else {
            time.schedule(LOOK_AGAIN, () -> look(level, sinceNanos, answer));
        }
    }
}
