package io.conclave.server;

import io.conclave.consensus.Rejection;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.replica.ChangeProposal;
import io.conclave.replica.Step;
import io.conclave.replica.StepListener;
import io.conclave.tree.Change;
import io.conclave.tree.TreeState;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out whether this member's state is that of the others. Every {@value #EVERY} changes each voter says the digest
 * of its state in a {@link Change.CompareState}. A member, even the leader, is wrong if a majority of the voters
 * agrees on another digest. Belongs to the log's thread.
 *
 * <p>A majority decides and not the leader's word: the leader's memory may be the one that is bad. Where no digest has
 * a majority, no member can tell which one is right; the log says so, and all go on.
 */
final class StateCheck implements StepListener {
    private static final Logger LOG = LoggerFactory.getLogger(StateCheck.class);

    /** The level from which on members understand the change. */
    static final int FEATURE_LEVEL = 2;

    /** Changes between two checks. */
    static final int EVERY = 1024;

    /** Checks of which answers may still come. */
    private static final int KEPT = 8;

    private static final long COUNT_MASK = 0xffff_ffffL;

    /** One moment of the state, by its zxid, and what the voters say of it. */
    private static final class Checkpoint {
        final long digest;
        final Map<Integer, Long> said = new HashMap<>();
        boolean doubted;

        Checkpoint(long digest) {
            this.digest = digest;
        }
    }

    private final int memberId;
    private final int every;
    private final ReplicatedLog log;
    private final Consumer<String> wrong;
    private final TreeMap<Long, Checkpoint> checkpoints = new TreeMap<>();
    private ClusterConfiguration configuration = ClusterConfiguration.NONE;

    /**
     * @param every changes between two checks, on all members alike
     * @param wrong called on the log's thread, with the reason, if this member's state is not that of the others
     */
    StateCheck(int memberId, int every, ReplicatedLog log, Consumer<String> wrong) {
        this.memberId = memberId;
        this.every = every;
        this.log = log;
        this.wrong = wrong;
    }

    void configured(ClusterConfiguration present) {
        configuration = present;
    }

    @Override
    public void began(TreeState state) {
        checkpoints.clear();
    }

    @Override
    public void applied(java.util.List<Step> steps) {
        for (Step step : steps) {
            if (step.change() instanceof Change.CompareState said) {
                heard(said);
            }
            if ((step.applied().zxid() & COUNT_MASK) % every == 0) {
                check(step.applied().state());
            }
        }
    }

    private void check(TreeState state) {
        boolean isAlone = configuration.members().keySet().equals(Set.of(memberId));
        if (state.featureLevel() < FEATURE_LEVEL || isAlone) {
            return;
        }
        checkpoints.put(state.lastZxid(), new Checkpoint(state.digest()));
        if (checkpoints.size() > KEPT) {
            checkpoints.pollFirstEntry();
        }
        if (configuration.voters().contains(memberId)) {
            // without room in the log this check does without this member
            log.propose(new DigestProposal(new Change.CompareState(memberId, state.lastZxid(), state.digest())));
        }
    }

    private void heard(Change.CompareState said) {
        Checkpoint checkpoint = checkpoints.get(said.zxid());
        Set<Integer> voters = configuration.voters();
        if (checkpoint == null || !voters.contains(said.member())) {
            return;
        }
        checkpoint.said.put(said.member(), said.digest());
        checkpoint.said.keySet().retainAll(voters);
        int agreeing = Collections.frequency(checkpoint.said.values(), said.digest());
        if (2 * agreeing > voters.size()) {
            decided(said, checkpoint);
        } else if (checkpoint.said.size() == voters.size() && !hasMajority(checkpoint, voters)) {
            doubt(said.zxid(), checkpoint);
        }
    }

    private void decided(Change.CompareState said, Checkpoint checkpoint) {
        if (said.digest() != checkpoint.digest) {
            checkpoints.clear();
            wrong.accept("the state of this member is not that of the others: after zxid 0x"
                    + Long.toHexString(said.zxid()) + " its digest is " + Long.toHexString(checkpoint.digest)
                    + ", and a majority of the voters has " + Long.toHexString(said.digest()));
        }
    }

    private static boolean hasMajority(Checkpoint checkpoint, Set<Integer> voters) {
        return checkpoint.said.values().stream()
                .anyMatch(digest -> 2 * Collections.frequency(checkpoint.said.values(), digest) > voters.size());
    }

    private static void doubt(long zxid, Checkpoint checkpoint) {
        if (!checkpoint.doubted) {
            checkpoint.doubted = true;
            LOG.error(
                    "The members have different states after zxid 0x{}, and no majority has the same: digests by "
                            + "member {}. It is not known which one is right; compare their data before you go on",
                    Long.toHexString(zxid),
                    checkpoint.said);
        }
    }

    /** A check that gets lost is followed by the next one. */
    private static final class DigestProposal extends ChangeProposal {
        DigestProposal(Change change) {
            super(change);
        }

        @Override
        public void rejected(Rejection reason) {}
    }
}
