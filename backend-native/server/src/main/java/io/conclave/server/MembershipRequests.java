package io.conclave.server;

import io.conclave.connection.MembershipService;
import io.conclave.consensus.ChangeOutcomeUnknownException;
import io.conclave.consensus.ImpossibleChangeException;
import io.conclave.consensus.LogException;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.NoLiveMajorityException;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.replica.MembershipWords;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes of the membership: made here where this member leads; else told to the leader by a note, whose server
 * answers. An answer can be lost with its link, so they are looked for in the configuration, too, as it is committed.
 * A server that is removed through itself has no leader to ask whether it shows all that is committed, so it looks at
 * the configuration before it stops serving. Thread-safe.
 *
 * <p>A note waits for a leader, and may come hours late from a server that was cut off, or again. So it says which
 * members its server knew, and is not carried out if an operator has changed them since.
 */
final class MembershipRequests implements MembershipService {
    private static final Logger LOG = LoggerFactory.getLogger(MembershipRequests.class);
    private static final Duration LOOK_AGAIN = Duration.ofMillis(50);
    /** Of a member that has been removed: it is told what has been made, and nothing is made for it. */
    private static final long KNOWS_NOTHING = -1;

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ReplicatedLog log;
    private final TimeSource time;
    private final int featureLevel;

    /**
     * Numbers begin anew at each start, at another place: an answer to the former process is not taken for one to this.
     */
    private final AtomicLong lastQuestion;

    private record Asked(List<MembershipChange> changes, CompletableFuture<@Nullable Void> shown) {}

    /** Asked for by clients, and neither shown here nor failed. */
    private final Set<Asked> underWay = ConcurrentHashMap.newKeySet();

    /** Asked of the leader and not answered, by number. */
    private final Map<Long, CompletableFuture<@Nullable Void>> open = new ConcurrentHashMap<>();

    MembershipRequests(ReplicatedLog log, TimeSource time, int featureLevel) {
        this.log = log;
        this.time = time;
        this.featureLevel = featureLevel;
        this.lastQuestion = new AtomicLong(time.monotonicNanos());
    }

    @Override
    public void change(List<MembershipChange> changes, Asker asker) {
        Asked asked = new Asked(changes, new CompletableFuture<>());
        underWay.add(asked);
        asked.shown().whenComplete((nothing, failure) -> {
            underWay.remove(asked);
            if (failure == null) {
                asker.made();
            } else {
                asker.failed(causeOf(failure));
            }
        });
        change(changes).whenComplete((nothing, failure) -> {
            if (failure == null) {
                show(asked);
            } else {
                asked.shown().completeExceptionally(failure);
            }
        });
    }

    /** It is committed. */
    private void show(Asked asked) {
        if (asked.shown().isDone() || log.readBarrier(() -> asked.shown().complete(null))) {
            return;
        }
        LogRole role = log.status().role();
        if (role == LogRole.CLOSED || role == LogRole.FAILED) {
            asked.shown()
                    .completeExceptionally(new ChangeOutcomeUnknownException(
                            "it is made, and this server has ended before it shows it"));
        } else {
            time.schedule(LOOK_AGAIN, () -> show(asked));
        }
    }

    /**
     * This server is about to stop serving. If it is for its removal, that was asked for here, perhaps. On the log's
     * thread.
     */
    void serviceEnds(ClusterConfiguration applied) {
        if (applied.members().containsKey(log.status().memberId())) {
            return;
        }
        for (Asked asked : underWay) {
            if (asked.changes().stream().allMatch(change -> isMade(change, applied))) {
                asked.shown().complete(null);
            }
        }
    }

    /** Completes, on any thread, when the last is committed. */
    CompletionStage<@Nullable Void> change(List<MembershipChange> changes) {
        LogStatus status = log.status();
        return status.role() == LogRole.LEADING ? make(changes, status.memberId(), Long.MAX_VALUE) : ask(changes);
    }

    private CompletionStage<@Nullable Void> make(List<MembershipChange> asked, int asker, long knownIndex) {
        LogStatus status = log.status();
        List<MembershipChange> changes =
                inOrder(asked, status.memberId(), asker, status.configuration().members());
        CompletionStage<Long> done = CompletableFuture.completedStage(knownIndex);
        for (int i = 0; i < changes.size(); i++) {
            MembershipChange change = changes.get(i);
            int made = i;
            done = done.thenCompose(known -> log.change(change, known).exceptionally(failure -> {
                throw made == 0 ? new CompletionException(causeOf(failure)) : partly(made, failure);
            }));
        }
        return done.thenApply(known -> null);
    }

    /**
     * A member leaves first if one that joins has its address. What takes the leader's vote comes last: it leads no
     * more then. The server that was asked leaves just before that: it answers as long as it serves.
     */
    static List<MembershipChange> inOrder(
            List<MembershipChange> changes, int leader, int asker, Map<Integer, EnsembleMember> present) {
        return changes.stream()
                .sorted(Comparator.comparing((MembershipChange change) -> takesVote(change, leader))
                        .thenComparing(change -> removes(change, asker) && !givesWay(change, changes, present))
                        .thenComparing(change -> !givesWay(change, changes, present)))
                .toList();
    }

    private static boolean removes(MembershipChange change, int member) {
        return change instanceof MembershipChange.Remove remove && remove.member() == member;
    }

    private static boolean takesVote(MembershipChange change, int member) {
        return change instanceof MembershipChange.Put put
                ? put.member().observer() && put.member().id() == member
                : ((MembershipChange.Remove) change).member() == member;
    }

    private static boolean givesWay(
            MembershipChange change, List<MembershipChange> changes, Map<Integer, EnsembleMember> present) {
        EnsembleMember leaving = change instanceof MembershipChange.Remove remove ? present.get(remove.member()) : null;
        return leaving != null
                && changes.stream()
                        .anyMatch(other -> other instanceof MembershipChange.Put put
                                && put.member().id() != leaving.id()
                                && put.member().addressOf(leaving).isPresent());
    }

    /** Not a refusal: some changes are made. */
    private static ChangeOutcomeUnknownException partly(int made, Throwable failure) {
        return new ChangeOutcomeUnknownException(
                "of the changes the first " + made + " are made, the next is not: " + reasonOf(failure));
    }

    /** What a stage has failed with. */
    static Throwable causeOf(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    private static String reasonOf(Throwable failure) {
        Throwable cause = causeOf(failure);
        return cause instanceof LogException && cause.getMessage() != null ? cause.getMessage() : cause.toString();
    }

    private CompletionStage<@Nullable Void> ask(List<MembershipChange> changes) {
        CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
        long deadline = time.monotonicNanos() + LIMIT.toNanos();
        long question = nextQuestion();
        open.put(question, done);
        done.whenComplete((nothing, failure) -> open.remove(question));
        long knownIndex = log.status().configurationIndex();
        byte[] note = new HeartbeatNote(featureLevel, new long[0], changes, question, knownIndex).encode();
        if (!log.readIndex(note, () -> look(changes, deadline, done))) {
            done.completeExceptionally(new LogException("the log takes nothing now"));
        }
        return done;
    }

    private long nextQuestion() {
        long next = lastQuestion.incrementAndGet();
        return next == 0 ? lastQuestion.incrementAndGet() : next;
    }

    /** The leader has answered. On the log's thread. */
    void answered(ServerAnswer answer) {
        CompletableFuture<@Nullable Void> done = open.get(answer.question());
        if (done == null) {
            LOG.debug("An answer that no request waits for: {}", answer);
        } else if (answer.refusal().isEmpty()) {
            done.complete(null);
        } else {
            done.completeExceptionally(failureOf(answer.refusal()));
        }
    }

    private static LogException failureOf(String refusal) {
        if (refusal.startsWith(NoLiveMajorityException.BEGINNING)) {
            return new NoLiveMajorityException(refusal.substring(NoLiveMajorityException.BEGINNING.length()));
        }
        if (refusal.startsWith(ImpossibleChangeException.BEGINNING)) {
            return new ImpossibleChangeException(refusal.substring(ImpossibleChangeException.BEGINNING.length()));
        }
        if (refusal.startsWith(ChangeOutcomeUnknownException.BEGINNING)) {
            return new ChangeOutcomeUnknownException(
                    refusal.substring(ChangeOutcomeUnknownException.BEGINNING.length()));
        }
        return new LogException("the leader was asked: " + refusal);
    }

    private void look(List<MembershipChange> changes, long deadline, CompletableFuture<@Nullable Void> done) {
        ClusterConfiguration present = log.status().configuration();
        if (done.isDone()) {
            return;
        }
        if (changes.stream().allMatch(change -> isMade(change, present))) {
            done.complete(null);
        } else if (time.monotonicNanos() - deadline > 0) {
            done.completeExceptionally(new ChangeOutcomeUnknownException("the leader was asked and has not changed the"
                    + " members in " + LIMIT.toSeconds() + " s; its log may say why"));
        } else {
            time.schedule(LOOK_AGAIN, () -> look(changes, deadline, done));
        }
    }

    static boolean isMade(MembershipChange change, ClusterConfiguration present) {
        if (change instanceof MembershipChange.Put put) {
            EnsembleMember wanted = put.member();
            EnsembleMember member = present.members().get(wanted.id());
            return member != null
                    && member.withDirectory(wanted.directory()).equals(wanted)
                    && !(wanted.observer() && present.isVoter(wanted.id())); // its vote goes later than its role
        }
        return change instanceof MembershipChange.Remove remove
                && !present.members().containsKey(remove.member());
    }

    /** Another member was asked, and this one leads. On the log's thread. */
    void asked(int member, HeartbeatNote note) {
        List<MembershipChange> changes = note.changes();
        long question = note.question();
        boolean belongs = log.status().configuration().members().containsKey(member);
        LOG.info("An operator asked member {} to change the members: {}", member, MembershipWords.describe(changes));
        make(changes, member, belongs ? note.knownIndex() : KNOWS_NOTHING).whenComplete((done, failure) -> {
            String refusal = failure == null ? "" : reasonOf(failure);
            if (failure != null) {
                LOG.warn("The members were not changed as an operator asked member {}: {}", member, refusal);
            }
            if (question != 0) {
                answer(member, new ServerAnswer(question, refusal));
            }
        });
    }

    /** Which may be this one, if it was asked before it began to lead: then there is no link. */
    private void answer(int member, ServerAnswer answer) {
        if (member == log.status().memberId()) {
            answered(answer);
        } else {
            log.tell(member, answer.encode());
        }
    }
}
