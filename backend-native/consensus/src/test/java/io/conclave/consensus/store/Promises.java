package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.Start;
import io.conclave.consensus.store.LogStore.Appended;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a store has acknowledged and learned, and so what its recovery must find: that, or what an operation that was
 * under way at the end of the process may have come to. The user of the store announces what it is about to do, and
 * then what was done.
 */
final class Promises {
    private Model log = Model.EMPTY;

    /** What may be there instead: an operation was under way when the former process ended. */
    private final List<Model> orElse = new ArrayList<>();

    private Recovered vote = new Recovered(0, 0, 0, 0, List.of(), false, 0, Start.NONE);
    private Recovered voteOrElse = vote;

    /** Fingerprints of what was cut, and must never come back. */
    private final Set<String> gone = new HashSet<>();

    /** What each batch's header says was committed. */
    private final Map<String, Long> said = new TreeMap<>();

    /** The highest index that was reported to the store as committed. */
    private long told;

    private long toldBefore;

    /** The commit index that a clean close has left. */
    private long left;

    /** A recovery has cut a torn tail, and the member has not caught up since. */
    private boolean torn;

    private boolean tornOrElse;

    /** What the disk held before a recovery that did not come to its end was torn for sure. */
    private boolean mustBeTorn;

    Model log() {
        return log;
    }

    Recovered vote() {
        return vote;
    }

    // ---- what is done

    void voting(long term, int member) {
        voteOrElse = new Recovered(term, member, 0, 0, List.of(), false, 0, Start.NONE);
    }

    void voted() {
        vote = voteOrElse;
    }

    void catchingUp() {
        tornOrElse = false;
    }

    void caughtUp() {
        torn = false;
    }

    void appending(List<LogBatch> batches, long commitIndex) {
        for (int count = 1; count <= batches.size(); count++) {
            orElse.add(log.with(batches.subList(0, count)));
        }
        for (LogBatch batch : batches) {
            said.put(Model.fingerprint(batch), commitIndex);
        }
        toldBefore = told;
        told(commitIndex);
    }

    void appended(List<LogBatch> batches, Appended outcome) {
        orElse.clear();
        if (outcome == Appended.DONE) {
            log = log.with(batches);
        } else {
            told = toldBefore;
        }
    }

    /** Reports to the store that everything up to here is committed. */
    void told(long commitIndex) {
        told = Math.max(told, commitIndex);
    }

    void cutting(long index) {
        for (long end : log.ends()) {
            if (end >= index && end < log.lastIndex()) {
                orElse.add(log.cutAfter(end));
            }
        }
    }

    void cut(long index) {
        orElse.clear();
        List<LogBatch> cut = log.behind(index);
        log = log.cutAfter(index);
        cut.forEach(batch -> gone.add(Model.fingerprint(batch)));
    }

    void installing(long index) {
        told(index);
        orElse.add(new Model(index, List.of()));
    }

    void installed(long index) {
        orElse.clear();
        log.batches().forEach(batch -> gone.add(Model.fingerprint(batch)));
        log = new Model(index, List.of());
    }

    /** Closed, when the store knew that so much is committed. */
    void closed(long known) {
        left = known;
    }

    void endedUnclosed() {
        left = 0;
    }

    /** Whether an operation was under way. */
    boolean isInDoubt() {
        return !orElse.isEmpty();
    }

    /** The end is torn as it is on the disk now, so the next recovery has to say so. */
    void foundTorn() {
        mustBeTorn = true;
    }

    // ---- what a recovery finds

    /**
     * Checks what was found; that is what is there from now on.
     *
     * @param states behind each batch of the cluster
     * @return whether the log begins elsewhere: a snapshot under way was installed
     */
    boolean check(Replay replay, Recovered recovered, Map<Long, Long> states) {
        boolean mayBeTorn = torn || isInDoubt();
        assertTrue(mayBeTorn || !recovered.cut(), "nothing can be torn");
        boolean installed = checkLog(replay, recovered);
        checkCommitted(replay, recovered, states);
        checkVote(recovered);
        return installed;
    }

    private boolean checkLog(Replay replay, Recovered recovered) {
        List<LogBatch> found = new ArrayList<>(replay.batches);
        found.addAll(recovered.rest());
        for (LogBatch batch : found) {
            assertFalse(gone.contains(Model.fingerprint(batch)), "was cut and is there again: " + batch);
        }
        long snapshot = replay.snapshot.lastIndex();
        List<Model> possible = new ArrayList<>(orElse);
        possible.add(log);
        Model is = possible.stream()
                .filter(model -> model.isFoundAs(snapshot, found))
                .findFirst()
                .orElseThrow(() -> new AssertionError("found behind " + snapshot + ": " + Model.fingerprints(found)
                        + "; expected " + log + " or one of " + orElse));
        boolean installed = is.base() != log.base();
        log = is;
        orElse.clear();
        return installed;
    }

    private void checkCommitted(Replay replay, Recovered recovered, Map<Long, Long> states) {
        long index = replay.lastIndex();
        assertEquals(index, recovered.lastCommitted());
        assertTrue(index <= told, "committed up to " + index + ", but knew " + told);
        assertTrue(log.ends().contains(index), index + " is not the end of a batch");
        long least = Math.min(left, log.lastIndex());
        for (LogBatch batch : log.batches()) {
            least = Math.max(least, Math.min(said.get(Model.fingerprint(batch)), log.lastIndex()));
        }
        least = log.endAtOrBefore(least);
        assertTrue(index >= least, "committed up to " + index + ", but knew and wrote " + least);
        assertEquals(states.get(index), replay.state, "the state at " + index);
        assertEquals(termAt(index, replay), recovered.lastCommittedTerm(), "the term of " + index);
    }

    private long termAt(long index, Replay replay) {
        for (LogBatch batch : log.batches()) {
            if (batch.lastIndex() == index) {
                return batch.term();
            }
        }
        return replay.snapshot.term();
    }

    private void checkVote(Recovered found) {
        boolean same = found.term() == vote.term() && found.votedFor() == vote.votedFor();
        boolean next = found.term() == voteOrElse.term() && found.votedFor() == voteOrElse.votedFor();
        assertTrue(
                same || next,
                "voted for " + found.votedFor() + " in " + found.term() + "; not " + vote + " nor " + voteOrElse);
        vote = found;
        voteOrElse = found;
        assertTrue(found.cut() || !torn || !tornOrElse, "that the end was torn is forgotten");
        assertTrue(found.cut() || !mustBeTorn, "that the end was torn was forgotten by an interrupted recovery");
        torn = found.cut();
        tornOrElse = torn;
        mustBeTorn = false;
    }
}
