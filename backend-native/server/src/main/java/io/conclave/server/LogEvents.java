package io.conclave.server;

import io.conclave.connection.Loops;
import io.conclave.connection.ServiceMode;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.replica.Replica;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the log says about leadership and service, passed on to the parts that it concerns. Belongs to the log's thread.
 */
final class LogEvents implements LogListener {
    private static final Logger LOG = LoggerFactory.getLogger(LogEvents.class);

    private final int memberId;
    private final Replica replica;
    private final LeaderTerm leaderTerm;
    private final SessionTracker sessions;
    private final StateCheck check;
    private final DigestLog digests;
    private final FeatureLevels features;
    private final MembershipRequests members;
    private final PeerClocks clocks;
    private final Loops loops;
    private final ServiceMode withoutLeader;
    private final Runnable whenServing;
    private final MembersNews membersNews = new MembersNews();
    private ClusterConfiguration configuration = ClusterConfiguration.NONE;
    private String complaint = "";
    private volatile ServiceMode mode = ServiceMode.NONE;
    private volatile ServiceMode most = ServiceMode.FULL;
    private boolean over;

    LogEvents(
            int memberId,
            Replica replica,
            LeaderTerm leaderTerm,
            SessionTracker sessions,
            StateCheck check,
            DigestLog digests,
            FeatureLevels features,
            MembershipRequests members,
            PeerClocks clocks,
            Loops loops,
            ServiceMode withoutLeader,
            Runnable whenServing) {
        this.memberId = memberId;
        this.replica = replica;
        this.leaderTerm = leaderTerm;
        this.sessions = sessions;
        this.check = check;
        this.digests = digests;
        this.features = features;
        this.members = members;
        this.clocks = clocks;
        this.loops = loops;
        this.withoutLeader = withoutLeader;
        this.whenServing = whenServing;
    }

    /** What clients are served; from any thread. */
    ServiceMode mode() {
        if (replica.isReading()) {
            return ServiceMode.NONE;
        }
        ServiceMode granted = mode;
        return granted.compareTo(most) < 0 ? granted : most;
    }

    /** The log's thread stands still, or moves again; from any thread. */
    synchronized void standstill(boolean still) {
        if (!over) {
            serveAtMost(still ? withoutLeader : ServiceMode.FULL);
        }
    }

    /**
     * The state that is here may be wrong, so nothing of it is served any more, also not to readers; from any thread.
     */
    synchronized void stopForGood() {
        over = true;
        serveAtMost(ServiceMode.NONE);
    }

    private void serveAtMost(ServiceMode bound) {
        most = bound;
        loops.serveAtMost(bound);
    }

    @Override
    public void leading(long term) {
        leaderTerm.lead(term);
        sessions.lead();
        features.lead(configuration);
        LOG.info("Leading in term {}", term);
    }

    @Override
    public void deposed() {
        leaderTerm.end();
        sessions.follow();
        LOG.info("Not leading any more");
    }

    @Override
    public boolean noted(int member, byte[] note) {
        try {
            HeartbeatNote known = HeartbeatNote.decode(note);
            if (!known.changes().isEmpty()) {
                members.asked(member, known); // the log refuses the changes if it does not lead
            }
            if (leaderTerm.leads()) {
                sessions.heard(known.sessionIds());
                features.noted(member, known.featureLevel());
                if (known.wallMs() != 0) {
                    clocks.noted(member, known.wallMs());
                }
            }
            return true;
        } catch (IllegalArgumentException e) {
            // unconfirmed: the sessions that the note names may have been heard of, and this leader does not know which
            String notUnderstood = member + ": " + e.getMessage();
            if (!notUnderstood.equals(complaint)) { // it is sent again and again
                complaint = notUnderstood;
                LOG.error("A heartbeat cannot be read, so it is not answered: from member {}", notUnderstood);
            }
            return false;
        }
    }

    @Override
    public void told(int member, byte[] note) {
        try {
            members.answered(ServerAnswer.decode(note));
        } catch (IllegalArgumentException e) {
            LOG.error("Member {} sent an answer that cannot be read: {}", member, e.getMessage());
        }
    }

    @Override
    public void serving(boolean serving) {
        // sessions first, so that a lease is there before its connection asks for it
        replica.tell(List.of(check, digests, sessions, loops));
        mode = serving ? ServiceMode.FULL : isRemoved() ? ServiceMode.NONE : withoutLeader;
        if (!serving) {
            members.serviceEnds(configuration);
        }
        loops.serve(mode);
        LOG.info(serving ? "Serving {}" : "Not serving any more at {}", replica.state());
        if (serving) {
            features.announce();
            whenServing.run();
        }
    }

    @Override
    public void suspended() {
        stopForGood();
    }

    /** Then it hears of nothing any more, so what it could show gets older and older. */
    private boolean isRemoved() {
        return !configuration.members().isEmpty() && !configuration.members().containsKey(memberId);
    }

    /** A second member ends being alone before it can have a vote, since it joins as a learner. */
    @Override
    public void configured(ClusterConfiguration present) {
        membersNews.of(configuration, present).ifPresent(members -> LOG.info("The members are now {}", members));
        configuration = present;
        if (mode == ServiceMode.READ_ONLY && isRemoved()) {
            mode = ServiceMode.NONE;
            loops.serve(mode);
        }
        leaderTerm.alone(present.members().size() <= 1);
        check.configured(present);
        features.configured(present);
    }
}
