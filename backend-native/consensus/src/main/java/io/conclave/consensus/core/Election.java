package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.VoteReply;
import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * A member's candidacy: whether it may stand, the voters it asks, and the votes it has. Each method that may bring the
 * last vote returns whether the election is won; to lead then is up to the core.
 */
final class Election {
    private final Rules rules;
    private final TermState termState;
    private final ElectionTimer timer;
    private final MemberLog log;
    private final Following following;
    private final LinkedMembers links;
    private final Outbox outbox;
    private final int self;
    private final Set<Integer> complete = new HashSet<>();
    private final Set<Integer> provisional = new HashSet<>();
    private final Set<Integer> refused = new HashSet<>();

    /** How the attempt before this one stood at its end, while there is no leader; empty if this is the first. */
    private String lastAttempt = "";

    /** The members that this one has not heard since its start; asked before it leads as the only voter. */
    private final Set<Integer> unheard;

    private final long patientUntilMs;

    /** Whether this member has the state that its log leads to. */
    private boolean hasState = true;

    /** The last term in which this member led since its start; 0 for none. */
    private long ledTerm;

    Election(
            CoreStart start,
            long patientUntilMs,
            Rules rules,
            TermState termState,
            ElectionTimer timer,
            MemberLog log,
            Following following,
            LinkedMembers links,
            Outbox outbox) {
        this.rules = rules;
        this.termState = termState;
        this.timer = timer;
        this.log = log;
        this.following = following;
        this.links = links;
        this.outbox = outbox;
        self = termState.self();
        unheard = new HashSet<>(start.others());
        unheard.remove(self);
        this.patientUntilMs = patientUntilMs;
    }

    /** The member has said what it knows, or that it knows nothing. */
    void heard(int member) {
        unheard.remove(member);
    }

    void hasState(boolean value) {
        hasState = value;
    }

    /** Whether it does not stand for election because it has no state, whatever its log and its vote. */
    boolean lacksState() {
        return !rules.mayStand(hasState);
    }

    boolean mayApply() {
        return rules.mayApply(hasState);
    }

    /** This member leads in the term. */
    void leads(long term) {
        ledTerm = term;
        over();
    }

    /** There is a leader. */
    void over() {
        complete.clear();
        provisional.clear();
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
     * before the latest while that is not known to be committed. For a member about to be removed may be the only one
     * that has the new configuration, and then no other can be elected (§4.2.2); its own vote does not count then.
     */
    private boolean mayCampaign() {
        return rules.mayStand(hasState)
                && log.configurations.anyInForce(
                        configuration -> configuration.isVoter(self) && links.isCounted(self, configuration));
    }

    /** It is the only voter, and need not wait for anybody. */
    private boolean isUncontested() {
        return log.configuration().isOnlyVoter(self) && termState.leader() == 0;
    }

    private boolean askForPreVotes(long nowMs) {
        if (!rules.asksBeforeVotes()) {
            return campaign(nowMs, false);
        }
        termState.become(CoreRole.PRE_CANDIDATE);
        termState.follow(0);
        begin(nowMs, true);
        return askForVotes(nowMs, true, termState.term() + 1, false);
    }

    private boolean campaign(long nowMs, boolean transfer) {
        termState.become(CoreRole.CANDIDATE);
        termState.beginTerm();
        following.begin();
        begin(nowMs, false);
        return askForVotes(nowMs, false, termState.term(), transfer);
    }

    private void begin(long nowMs, boolean pre) {
        String attempt = complete.isEmpty() && provisional.isEmpty() ? "" : attempt();
        over();
        lastAttempt = attempt;
        timer.begun(nowMs, pre);
    }

    private boolean askForVotes(long nowMs, boolean pre, long candidacy, boolean transfer) {
        add(self, termState.isProvisional(), termState.doubtTerm());
        if (isWon()) {
            return goOn(nowMs);
        }
        for (EnsembleMember member : log.configuration().members().values()) {
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
        long candidacy = reply.pre() ? termState.term() + 1 : termState.term();
        if (termState.role() != asked || reply.term() != candidacy || !links.isCounted(from)) {
            return false;
        }
        add(from, reply.provisional(), reply.doubtTerm());
        return isWon() && goOn(nowMs);
    }

    /** The member gives no vote: it hears a leader, has voted, or has more than this one. */
    void refused(int from) {
        refused.add(from);
    }

    /** Why this member does not lead, nor anybody else, as far as it knows. */
    String reason(long nowMs) {
        ClusterConfiguration configuration = log.configuration();
        if (lacksState()) {
            return "this server reads the state of a snapshot, does not stand for election until it has it, and hears"
                    + " no leader";
        }
        if (configuration.members().isEmpty()) {
            return "the servers that this one has reached have not taken it in: their leader has no line for its"
                    + " number, or that was removed; add it through one of them";
        }
        if (!mayCampaign()) {
            return "this server has no vote, and hears no leader; voters are " + configuration.voters();
        }
        if (isUncontested()) {
            return mayLeadAlone(nowMs)
                    ? ""
                    : "this server is the only voter, and first waits for servers " + new TreeSet<>(unheard)
                            + " to say what they know";
        }
        if (termState.role() == CoreRole.FOLLOWER) {
            return "the last leader is lost, and an election has not begun yet";
        }
        return lastAttempt.isEmpty() ? attempt() : lastAttempt;
    }

    private String attempt() {
        ClusterConfiguration configuration = log.configuration();
        Set<Integer> silent = new TreeSet<>(configuration.voters());
        silent.addAll(configuration.outgoing());
        List.of(complete, provisional, refused).forEach(silent::removeAll);
        return "this server asks for votes: of voters " + configuration.voters()
                + (configuration.isJoint() ? " and " + configuration.outgoing() + " before" : "")
                + (complete.isEmpty() ? "" : ", " + new TreeSet<>(complete) + " would vote for it")
                + (provisional.isEmpty()
                        ? ""
                        : ", " + new TreeSet<>(provisional)
                                + " only provisionally, since the end of the log was torn there")
                + (refused.isEmpty() ? "" : ", " + new TreeSet<>(refused) + " refuse")
                + (silent.isEmpty() ? "" : ", " + silent + " do not answer")
                + (provisional.isEmpty()
                        ? "; a majority is needed"
                        : "; a majority of complete votes is needed, or the votes of all");
    }

    private void add(int voter, boolean isProvisional, long doubtTerm) {
        (isProvisional && !rules.vouches(ledTerm, doubtTerm) ? provisional : complete).add(voter);
    }

    private boolean isWon() {
        return rules.isElected(log.configuration(), complete, provisional);
    }

    /** Votes follow the promises of them. */
    private boolean goOn(long nowMs) {
        return termState.role() == CoreRole.CANDIDATE || campaign(nowMs, false);
    }
}
