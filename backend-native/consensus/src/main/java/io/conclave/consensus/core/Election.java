package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.VoteReply;
import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.Member;
import java.util.HashSet;
import java.util.Set;

/**
 * A member's candidacy: whether it may stand, whom it asks for votes, and which it has got. Whatever may bring the last
 * vote says whether the election is won; to lead then is up to the core.
 */
final class Election {
    private final Rules rules;
    private final Standing standing;
    private final ElectionTimer timer;
    private final MemberLog log;
    private final Following following;
    private final LinkedMembers links;
    private final Outbox outbox;
    private final int self;
    private final Set<Integer> full = new HashSet<>();
    private final Set<Integer> weak = new HashSet<>();

    Election(
            Rules rules,
            Standing standing,
            ElectionTimer timer,
            MemberLog log,
            Following following,
            LinkedMembers links,
            Outbox outbox) {
        this.rules = rules;
        this.standing = standing;
        this.timer = timer;
        this.log = log;
        this.following = following;
        this.links = links;
        this.outbox = outbox;
        self = standing.self();
    }

    /** Time has passed, and this member does not lead. */
    boolean tick(long nowMs) {
        if (!mayCampaign()) {
            return false;
        }
        if (isUncontested()) {
            return campaign(nowMs, false);
        }
        return nowMs >= timer.deadlineMs() && askForPreVotes(nowMs);
    }

    /** When {@link #tick} has something to do next, if nothing else happens. */
    long nextTickMs(long nowMs) {
        if (!mayCampaign()) {
            return Long.MAX_VALUE;
        }
        return isUncontested() ? nowMs : timer.deadlineMs();
    }

    /** The leader wants this member to take over. */
    boolean succeed(long nowMs) {
        return mayCampaign() && campaign(nowMs, true);
    }

    /**
     * Whether this member has a vote, in its own directory, by a configuration that may be in force: also by the one
     * before the latest while that is not known to be committed. For who is about to be removed may be the only one who
     * has the new configuration, and then nobody else can be elected (§4.2.2); its own vote does not count then.
     */
    private boolean mayCampaign() {
        return log.configurations.anyInForce(
                configuration -> configuration.isVoter(self) && links.isCounted(self, configuration));
    }

    /** It is the only voter, and need not wait for anybody. */
    private boolean isUncontested() {
        ClusterConfiguration configuration = log.configuration();
        return !configuration.isJoint() && configuration.voters().equals(Set.of(self)) && standing.leader() == 0;
    }

    private boolean askForPreVotes(long nowMs) {
        if (!rules.asksBeforeVotes()) {
            return campaign(nowMs, false);
        }
        standing.become(CoreRole.PRE_CANDIDATE);
        standing.follow(0);
        begin(nowMs, true);
        return askForVotes(nowMs, true, standing.term() + 1, false);
    }

    private boolean campaign(long nowMs, boolean transfer) {
        standing.become(CoreRole.CANDIDATE);
        standing.beginTerm();
        following.begin();
        begin(nowMs, false);
        return askForVotes(nowMs, false, standing.term(), transfer);
    }

    private void begin(long nowMs, boolean pre) {
        full.clear();
        weak.clear();
        timer.begun(nowMs, pre);
    }

    private boolean askForVotes(long nowMs, boolean pre, long candidacy, boolean transfer) {
        add(self, standing.isWeak());
        if (isWon()) {
            return goOn(nowMs);
        }
        for (Member member : log.configuration().members().values()) {
            if (member.id() != self && log.configuration().isVoter(member.id())) {
                outbox.send(
                        member.id(),
                        new VoteRequest(
                                pre, candidacy, log.lastIndex(), log.window.lastTerm(), member.directory(), transfer));
            }
        }
        return false;
    }

    /** A vote, or the promise of one; ignored if it is not asked for any more. */
    boolean granted(long nowMs, int from, VoteReply reply) {
        CoreRole asked = reply.pre() ? CoreRole.PRE_CANDIDATE : CoreRole.CANDIDATE;
        long candidacy = reply.pre() ? standing.term() + 1 : standing.term();
        if (standing.role() != asked || reply.term() != candidacy || !links.isCounted(from)) {
            return false;
        }
        add(from, reply.weak());
        return isWon() && goOn(nowMs);
    }

    private void add(int voter, boolean isWeak) {
        (isWeak ? weak : full).add(voter);
    }

    private boolean isWon() {
        return rules.isElected(log.configuration(), full, weak);
    }

    /** Votes follow the promises of them. */
    private boolean goOn(long nowMs) {
        return standing.role() == CoreRole.CANDIDATE || campaign(nowMs, false);
    }
}
