package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.VoteReply;
import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.Member;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

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
    private final Set<Integer> refused = new HashSet<>();

    /** How the attempt before this one stood at its end, since nobody leads; empty if this is the first. */
    private String lastAttempt = "";

    /** Whom this member has not heard in this life; asked before it leads as the only voter. */
    private final Set<Integer> unheard;

    private final long patientUntilMs;

    /** The last term in which this member led in this life; 0 for none. */
    private long ledTerm;

    Election(
            CoreStart start,
            long patientUntilMs,
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
        unheard = new HashSet<>(start.others());
        unheard.remove(self);
        this.patientUntilMs = patientUntilMs;
    }

    /** The member has said what it knows, or that it knows nothing. */
    void heard(int member) {
        unheard.remove(member);
    }

    /** This member leads in the term. */
    void leads(long term) {
        ledTerm = term;
        over();
    }

    /** Somebody leads. */
    void over() {
        full.clear();
        weak.clear();
        refused.clear();
        lastAttempt = "";
    }

    /** Time has passed, and this member does not lead. */
    boolean tick(long nowMs) {
        if (!mayCampaign()) {
            return false;
        }
        if (isUncontested()) {
            return mayLeadAlone(nowMs) && campaign(nowMs, false);
        }
        return nowMs >= timer.deadlineMs() && askForPreVotes(nowMs);
    }

    /** When {@link #tick} has something to do next, if nothing else happens. */
    long nextTickMs(long nowMs) {
        if (!mayCampaign()) {
            return Long.MAX_VALUE;
        }
        if (isUncontested()) {
            return mayLeadAlone(nowMs) ? nowMs : patientUntilMs;
        }
        return timer.deadlineMs();
    }

    private boolean mayLeadAlone(long nowMs) {
        return rules.mayLeadAlone(unheard.isEmpty(), nowMs >= patientUntilMs);
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
        return log.configuration().isOnlyVoter(self) && standing.leader() == 0;
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
        following.begin(standing.term());
        begin(nowMs, false);
        return askForVotes(nowMs, false, standing.term(), transfer);
    }

    private void begin(long nowMs, boolean pre) {
        String attempt = full.isEmpty() && weak.isEmpty() ? "" : attempt();
        over();
        lastAttempt = attempt;
        timer.begun(nowMs, pre);
    }

    private boolean askForVotes(long nowMs, boolean pre, long candidacy, boolean transfer) {
        add(self, standing.isWeak(), standing.doubtTerm());
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
        add(from, reply.weak(), reply.doubtTerm());
        return isWon() && goOn(nowMs);
    }

    /** The member gives no vote: it hears a leader, has voted, or has more than this one. */
    void refused(int from) {
        refused.add(from);
    }

    /** Why this member does not lead, nor anybody else, as far as it knows. */
    String reason(long nowMs) {
        ClusterConfiguration configuration = log.configuration();
        if (!mayCampaign()) {
            return "this server has no vote, and hears no leader; voters are " + configuration.voters();
        }
        if (isUncontested()) {
            return mayLeadAlone(nowMs)
                    ? ""
                    : "this server is the only voter, and first waits for servers " + new TreeSet<>(unheard)
                            + " to say what they know";
        }
        if (standing.role() == CoreRole.FOLLOWER) {
            return "the last leader is lost, and an election has not begun yet";
        }
        return lastAttempt.isEmpty() ? attempt() : lastAttempt;
    }

    private String attempt() {
        ClusterConfiguration configuration = log.configuration();
        Set<Integer> silent = new TreeSet<>(configuration.voters());
        silent.addAll(configuration.outgoing());
        List.of(full, weak, refused).forEach(silent::removeAll);
        return "this server asks for votes: of voters " + configuration.voters()
                + (configuration.isJoint() ? " and " + configuration.outgoing() + " before" : "")
                + (full.isEmpty() ? "" : ", " + new TreeSet<>(full) + " would vote for it")
                + (weak.isEmpty()
                        ? ""
                        : ", " + new TreeSet<>(weak) + " only weakly, since the end of the log was torn" + " there")
                + (refused.isEmpty() ? "" : ", " + new TreeSet<>(refused) + " refuse")
                + (silent.isEmpty() ? "" : ", " + silent + " do not answer")
                + (weak.isEmpty()
                        ? "; a majority is needed"
                        : "; a majority of votes that are not weak is needed, or the votes of all");
    }

    private void add(int voter, boolean isWeak, long doubtTerm) {
        (isWeak && !rules.vouches(ledTerm, doubtTerm) ? weak : full).add(voter);
    }

    private boolean isWon() {
        return rules.isElected(log.configuration(), full, weak);
    }

    /** Votes follow the promises of them. */
    private boolean goOn(long nowMs) {
        return standing.role() == CoreRole.CANDIDATE || campaign(nowMs, false);
    }
}
