package io.conclave.consensus.core;

import io.conclave.consensus.core.CoreOutput.Envelope;
import io.conclave.consensus.core.CoreOutput.Note;
import io.conclave.consensus.core.CoreOutput.ReadIndex;
import io.conclave.consensus.core.CoreOutput.ReceivedChunk;
import io.conclave.consensus.core.CoreOutput.Vote;
import io.conclave.consensus.entry.LogBatch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gathers what a turn asks of the shell. */
final class Outbox {
    private Vote lastVote;
    private CoreRole lastRole = CoreRole.FOLLOWER;
    private boolean lastProvisional;
    /** The last index of what the shell was given to write. */
    private long lastWritten;

    private List<Envelope> messages = new ArrayList<>();
    private long cutAfter = -1;
    private List<LogBatch> append = new ArrayList<>();
    private List<ReadIndex> readIndexes = new ArrayList<>();
    private List<Note> notes = new ArrayList<>();
    private List<Integer> snapshotsWanted = new ArrayList<>();
    private List<ReceivedChunk> chunks = new ArrayList<>();

    Outbox(Vote durable, long lastWritten, boolean provisional) {
        this.lastVote = durable;
        this.lastWritten = lastWritten;
        this.lastProvisional = provisional;
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

    void readIndex(long id, long index) {
        readIndexes.add(new ReadIndex(id, index));
    }

    void note(int from, long id, byte[] note) {
        notes.add(new Note(from, id, note));
    }

    void snapshotWanted(int member) {
        if (!snapshotsWanted.contains(member)) {
            snapshotsWanted.add(member);
        }
    }

    void chunk(int from, PeerMessage.SnapshotChunk chunk) {
        chunks.add(new ReceivedChunk(from, chunk));
    }

    CoreOutput take(Vote vote, CoreRole role, boolean provisional) {
        @Nullable Vote newVote = vote.equals(lastVote) ? null : vote;
        // a member that leads again in a later term was something else in between
        boolean ledBefore = role == CoreRole.LEADER && vote.term() != lastVote.term();
        @Nullable CoreRole newRole = role == lastRole && !ledBefore ? null : role;
        CoreOutput output = new CoreOutput(
                newVote,
                messages,
                cutAfter,
                append,
                readIndexes,
                notes,
                snapshotsWanted,
                chunks,
                newRole,
                lastProvisional && !provisional);
        lastVote = vote;
        lastRole = role;
        lastProvisional = provisional;
        if (!append.isEmpty()) {
            lastWritten = append.get(append.size() - 1).lastIndex();
        }
        messages = new ArrayList<>();
        cutAfter = -1;
        append = new ArrayList<>();
        readIndexes = new ArrayList<>();
        notes = new ArrayList<>();
        snapshotsWanted = new ArrayList<>();
        chunks = new ArrayList<>();
        return output;
    }
}
