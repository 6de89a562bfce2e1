package io.conclave.commit;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The simplest two-phase commit that is correct: a znode for each vote, one for the decision, and everybody asks again
 * and again; for mistakes to be planted in.
 */
final class TextbookTransaction {
    /** What authors of two-phase commits get wrong. */
    enum Mistake {
        /** The decision is written into a znode that is there, over whatever stands there: two can decide. */
        DECISION_IS_SET,
        /** A site that has lost its session while it voted begins anew, and votes otherwise. */
        VOTES_AGAIN_AFTER_A_LOST_SESSION,
        /** A site commits when it sees that all have voted to commit, without a decision. */
        DECIDES_BY_THE_VOTES_ALONE,
        /** A site that is in doubt aborts, without a word to the others. */
        ABORTS_WITHOUT_A_DECISION
    }

    static final List<String> SITES = List.of("a", "b", "c");

    private static final NodePath PATH = NodePath.of("/transaction");
    private static final NodePath DECISION = PATH.child("decision");
    private static final String COMMIT = "commit";
    private static final String ABORT = "abort";
    private static final Duration VOTES_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration DECISION_TIMEOUT = Duration.ofSeconds(6);

    private final FaultRun run;
    private final Actor me;
    private final TextbookRequests requests;
    private final Set<Mistake> mistakes = EnumSet.noneOf(Mistake.class);

    TextbookTransaction(FaultRun run, Actor me, Mistake... planted) {
        this.run = run;
        this.me = me;
        this.requests = new TextbookRequests(run, me);
        mistakes.addAll(Arrays.asList(planted));
    }

    /** Makes the znodes. */
    void prepare() throws InterruptedException {
        persistently(Create.of(PATH));
        for (String site : SITES) {
            persistently(Create.of(PATH.child(site)));
        }
        if (mistakes.contains(Mistake.DECISION_IS_SET)) {
            persistently(Create.of(DECISION));
        }
    }

    /** Waits for the votes, and decides. */
    boolean coordinate() throws InterruptedException {
        for (Duration waited = Duration.ZERO;
                waited.compareTo(VOTES_TIMEOUT) < 0;
                waited = waited.plus(TextbookRequests.LOOK_INTERVAL)) {
            if (haveAllVotedToCommit()) {
                return decide(COMMIT);
            }
            run.pause(TextbookRequests.LOOK_INTERVAL);
        }
        return decide(ABORT);
    }

    /** Votes, and does what is decided; whether that is to commit. */
    boolean takePart(String site) throws InterruptedException {
        if (!vote(site).equals(COMMIT)) {
            return false; // it can only be aborted
        }
        for (Duration waited = Duration.ZERO;
                waited.compareTo(DECISION_TIMEOUT) < 0;
                waited = waited.plus(TextbookRequests.LOOK_INTERVAL)) {
            String decision = mistakes.contains(Mistake.DECIDES_BY_THE_VOTES_ALONE) && haveAllVotedToCommit()
                    ? COMMIT
                    : requests.text(DECISION);
            if (!decision.isEmpty()) {
                return decision.equals(COMMIT);
            }
            run.pause(TextbookRequests.LOOK_INTERVAL);
        }
        return !mistakes.contains(Mistake.ABORTS_WITHOUT_A_DECISION) && decide(ABORT);
    }

    private boolean haveAllVotedToCommit() throws InterruptedException {
        for (String site : SITES) {
            if (!requests.text(PATH.child(site)).equals(COMMIT)) {
                return false;
            }
        }
        return true;
    }

    /** Votes once; what stands there binds, also if its writer is not known. */
    private String vote(String site) throws InterruptedException {
        SetData commit = SetData.of(PATH.child(site), COMMIT.getBytes(UTF_8)).withVersion(0);
        if (mistakes.contains(Mistake.VOTES_AGAIN_AFTER_A_LOST_SESSION)) {
            try {
                me.coordinator().execute(commit);
                return COMMIT;
            } catch (OutcomeUnknownException | SessionGoneException e) {
                persistently(SetData.of(PATH.child(site), ABORT.getBytes(UTF_8)));
                return ABORT;
            }
        }
        persistently(commit);
        return requests.text(PATH.child(site));
    }

    /** The creator of the znode has decided; all others read it. */
    private boolean decide(String what) throws InterruptedException {
        byte[] data = what.getBytes(UTF_8);
        if (mistakes.contains(Mistake.DECISION_IS_SET)) {
            persistently(SetData.of(DECISION, data));
            return what.equals(COMMIT);
        }
        persistently(Create.of(DECISION).withData(data));
        return requests.text(DECISION).equals(COMMIT);
    }

    /** Sends it until it is known to have been carried out, or to be of no use. */
    private void persistently(Request<?> request) throws InterruptedException {
        Optional<RefusedException> refused = requests.send(request);
        if (refused.isPresent()
                && refused.get().reason() != RefusalReason.NODE_EXISTS
                && refused.get().reason() != RefusalReason.BAD_VERSION) {
            throw refused.get();
        }
    }
}
