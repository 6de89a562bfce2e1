package io.conclave.consensus.core;

import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.entry.Start;
import java.util.ArrayList;
import java.util.List;

/** What members say to each other. Links keep the order of one sender's messages, and may lose any suffix of them. */
public sealed interface PeerMessage {

    /** A message that names the term of its sender, or of what it asks for. */
    sealed interface OfTerm extends PeerMessage {
        /** The term. */
        long term();
    }

    /**
     * The first message on each link: what the sender knows that may show the receiver that its disk was set back to an
     * older state.
     *
     * @param known the receiver's last start that the sender knows to be committed; {@link Start#NONE} if it knows none
     * @param acknowledgedIndex what the directory of {@code known} has acknowledged to the sender, which led, of
     *     what is committed
     * @param commitIndex up to where the sender's log is committed
     * @param commitTerm the term of that
     * @param configurationIndex the index of the last committed configuration
     */
    record Greeting(Start known, long acknowledgedIndex, long commitIndex, long commitTerm, long configurationIndex)
            implements PeerMessage {}

    /**
     * The receiver of an append has committed something else than its leader sends; the leader may send it back: a
     * majority has acknowledged its term, so it is the other one that is wrong.
     *
     * @param term of the append
     * @param index where the two differ
     * @param termThere of the receiver's entry there; of its last committed one if that is not known any more
     */
    record Contradiction(long term, long index, long termThere) implements OfTerm {}

    /**
     * Asks for a vote (Raft §5.2), or with {@code pre} whether there would be one (thesis §9.6).
     *
     * @param term the term of the candidacy; with {@code pre} the one that it would have
     * @param voterDirectory the directory that the candidate's configuration has for the voter that is asked
     * @param transfer the leader has asked for this election: a voter that hears the leader does not refuse for that
     */
    record VoteRequest(boolean pre, long term, long lastIndex, long lastTerm, long voterDirectory, boolean transfer)
            implements OfTerm {}

    /**
     * The answer to a vote request.
     *
     * @param term the voter's term; that of the request if it is granted
     * @param provisional the voter may have lost the end of its log: see docs/decisions/0005
     * @param doubtTerm if it is provisional: the term that it was in when that happened
     */
    record VoteReply(boolean pre, long term, boolean granted, boolean provisional, long doubtTerm) implements OfTerm {}

    /**
     * Batches behind a given place, and a heartbeat with every one, also without batches.
     *
     * @param commitIndex what is committed (the receiver knows it of its log up to the last of these batches only)
     * @param round number of the round of heartbeats under way; the reply repeats it
     */
    record Append(
            long term, long previousIndex, long previousTerm, long commitIndex, long round, List<LogBatch> batches)
            implements OfTerm {
        public Append {
            batches = List.copyOf(batches);
        }
    }

    /**
     * The leader has learned that more is committed, and has nothing else to send. Not answered: what it says is said
     * again by the next append, should it be lost.
     */
    record Commit(long term, long commitIndex) implements OfTerm {}

    /**
     * The answer to an append.
     *
     * @param matchIndex if accepted, up to where the receiver's log is durable and equal to the leader's
     * @param hintIndex if not accepted, where the leader may look for the last equal place; the receiver's entry there
     *     has {@code hintTerm}
     */
    record AppendReply(long term, boolean accepted, long matchIndex, long hintIndex, long hintTerm, long round)
            implements OfTerm {}

    /**
     * A chunk of a snapshot of the leader's.
     *
     * @param lastIndex what the snapshot stands for
     * @param lastTerm the term of that
     * @param length of the whole file
     */
    record SnapshotChunk(long term, long lastIndex, long lastTerm, long length, long offset, byte[] bytes)
            implements OfTerm {}

    /**
     * The answer to a chunk.
     *
     * @param received up to where the receiver has the file; the sender goes on there. Negative if the whole file
     *     came and failed its check
     * @param installed the receiver's log goes on behind the snapshot
     */
    record SnapshotReply(long term, long lastIndex, long received, boolean installed) implements OfTerm {

        /** The whole file came and failed its check. */
        public static SnapshotReply damaged(long term, long lastIndex) {
            return new SnapshotReply(term, lastIndex, -1, false);
        }

        /** Whether the whole file came and failed its check. */
        public boolean isDamaged() {
            return received < 0;
        }
    }

    /** The leader asks the receiver to stand for election at once (thesis §3.10). */
    record TimeoutNow(long term) implements OfTerm {}

    /**
     * A member asks the leader for a read index (thesis §6.4), with a note for the leader's application.
     *
     * @param id the asker's number for it
     */
    record ReadIndexRequest(long id, byte[] note) implements PeerMessage {}

    /**
     * Leadership was confirmed after the request came.
     *
     * @param index what the asker must have applied
     */
    record ReadIndexReply(long term, long id, long index) implements OfTerm {}

    /** The application of the member that leads, or has led, says something to the receiver's; may be lost. */
    record Note(byte[] bytes) implements PeerMessage {}

    /**
     * Proposals of another member, in its order.
     *
     * @param entries with their origins
     */
    record Forward(List<LogEntry> entries) implements PeerMessage {
        public Forward {
            entries = List.copyOf(entries);
        }
    }

    /**
     * The leader has no room for proposals of the receiver: entries without effect stand in their places, and no copy
     * that it was sent is proposed. See docs/decisions/0063.
     *
     * @param incarnation of the receiver, in which it has numbered them
     */
    record Refusal(long term, long incarnation, long firstSequence, long lastSequence) implements OfTerm {
        /** From this level in force on all members understand it. */
        public static final int FEATURE_LEVEL = 5;

        /** The messages that refuse these proposals, which are in the order of their sender. */
        public static List<Refusal> of(long term, List<Origin> refused) {
            List<Refusal> refusals = new ArrayList<>();
            for (int from = 0, to; from < refused.size(); from = to) {
                Origin first = refused.get(from);
                to = from + 1;
                while (to < refused.size()
                        && refused.get(to).incarnation() == first.incarnation()
                        && refused.get(to).sequence() == first.sequence() + to - from) {
                    to++;
                }
                refusals.add(
                        new Refusal(term, first.incarnation(), first.sequence(), first.sequence() + to - from - 1));
            }
            return refusals;
        }
    }
}
