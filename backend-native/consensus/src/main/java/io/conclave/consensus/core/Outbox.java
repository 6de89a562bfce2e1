package io.conclave.consensus.core;

import io.conclave.consensus.core.Output.Confirmed;
import io.conclave.consensus.core.Output.Envelope;
import io.conclave.consensus.core.Output.Note;
import io.conclave.consensus.core.Output.ReceivedPiece;
import io.conclave.consensus.core.Output.Vote;
import io.conclave.consensus.entry.LogBatch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gathers what a turn asks of the shell. */
final class Outbox {
    private Vote lastVote;
    private CoreRole lastRole = CoreRole.FOLLOWER;
    private boolean lastWeak;
    /** The last index of what the shell was given to write. */
    private long lastWritten;

    private List<Envelope> messages = new ArrayList<>();
    private long cutAfter = -1;
    private List<LogBatch> append = new ArrayList<>();
    private List<Confirmed> confirmed = new ArrayList<>();
    private List<Note> notes = new ArrayList<>();
    private List<Integer> snapshotsWanted = new ArrayList<>();
    private List<ReceivedPiece> pieces = new ArrayList<>();

    Outbox(Vote durable, long lastWritten, boolean weak) {
        this.lastVote = durable;
        this.lastWritten = lastWritten;
        this.lastWeak = weak;
    }

    void send(int to, PeerMessage message) {
        messages.add(new Envelope(to, message));
    }

    void append(LogBatch batch) {
        append.add(batch);
    }

    /** What is not handed out yet is simply taken back. */
    void cutAfter(long index) {
        append.removeIf(batch -> batch.firstIndex() > index);
        if (index < lastWritten) {
            cutAfter = cutAfter < 0 ? index : Math.min(cutAfter, index);
            lastWritten = index;
        }
    }

    /** The log has been replaced by a snapshot. */
    void installed(long lastIndex) {
        append.clear();
        cutAfter = -1;
        lastWritten = lastIndex;
    }

    void confirmed(long id, long index) {
        confirmed.add(new Confirmed(id, index));
    }

    void note(int from, byte[] note) {
        notes.add(new Note(from, note));
    }

    boolean hasNotes() {
        return !notes.isEmpty();
    }

    void snapshotWanted(int member) {
        if (!snapshotsWanted.contains(member)) {
            snapshotsWanted.add(member);
        }
    }

    void piece(int from, PeerMessage.SnapshotPiece piece) {
        pieces.add(new ReceivedPiece(from, piece));
    }

    Output take(Vote vote, long commitIndex, CoreRole role, boolean weak) {
        @Nullable Vote newVote = vote.equals(lastVote) ? null : vote;
        // who leads again in a later term was something else in between
        boolean ledBefore = role == CoreRole.LEADER && vote.term() != lastVote.term();
        @Nullable CoreRole newRole = role == lastRole && !ledBefore ? null : role;
        Output output = new Output(
                newVote,
                messages,
                cutAfter,
                append,
                commitIndex,
                confirmed,
                notes,
                snapshotsWanted,
                pieces,
                newRole,
                lastWeak && !weak);
        lastVote = vote;
        lastRole = role;
        lastWeak = weak;
        if (!append.isEmpty()) {
            lastWritten = append.get(append.size() - 1).lastIndex();
        }
        messages = new ArrayList<>();
        cutAfter = -1;
        append = new ArrayList<>();
        confirmed = new ArrayList<>();
        notes = new ArrayList<>();
        snapshotsWanted = new ArrayList<>();
        pieces = new ArrayList<>();
        return output;
    }
}
