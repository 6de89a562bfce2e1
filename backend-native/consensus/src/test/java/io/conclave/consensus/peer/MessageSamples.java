package io.conclave.consensus.peer;

import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.Append;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.Commit;
import io.conclave.consensus.core.PeerMessage.Contradiction;
import io.conclave.consensus.core.PeerMessage.Forward;
import io.conclave.consensus.core.PeerMessage.Greeting;
import io.conclave.consensus.core.PeerMessage.Note;
import io.conclave.consensus.core.PeerMessage.ReadIndexReply;
import io.conclave.consensus.core.PeerMessage.ReadIndexRequest;
import io.conclave.consensus.core.PeerMessage.Refusal;
import io.conclave.consensus.core.PeerMessage.SnapshotChunk;
import io.conclave.consensus.core.PeerMessage.SnapshotReply;
import io.conclave.consensus.core.PeerMessage.TimeoutNow;
import io.conclave.consensus.core.PeerMessage.VoteReply;
import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.entry.Start;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** One message of each kind, and what makes two of them equal. */
final class MessageSamples {
    static final List<PeerMessage> ALL = List.of(
            new VoteRequest(true, 5, 41, 4, 0x0123456789abcdefL, false),
            new VoteReply(false, 5, true, true, 4),
            new Append(5, 41, 4, 40, 9, List.of(batch(5, 42), batch(5, 44))),
            new AppendReply(5, false, 40, 39, 3, 9),
            new SnapshotChunk(5, 40, 4, 3_000_000_000L, 2_999_999_997L, new byte[] {1, 2, 3}),
            new SnapshotReply(5, 40, 3_000_000_000L, true),
            new TimeoutNow(5),
            new ReadIndexRequest(17, new byte[] {(byte) 0xca, (byte) 0xfe}),
            new ReadIndexReply(5, 17, 42),
            new Forward(List.of(entry(LogEntryKind.APPLICATION, new Origin(255, 12, 3), 0xaa))),
            new Commit(5, 40),
            new Note(new byte[] {(byte) 0xbe, (byte) 0xef}),
            new Greeting(new Start(0x0123456789abcdefL, 7, 8), 40, 41, 4, 12),
            new Contradiction(5, 40, 3),
            new Refusal(5, 12, 3, 17));

    private MessageSamples() {}

    static LogBatch batch(long term, long firstIndex) {
        return new LogBatch(
                term,
                firstIndex,
                1_700_000_000_000L,
                List.of(
                        entry(LogEntryKind.TERM, Origin.NONE),
                        entry(LogEntryKind.APPLICATION, new Origin(2, 12, 3), 1, 2)));
    }

    static LogEntry entry(LogEntryKind kind, Origin origin, int... payload) {
        byte[] bytes = new byte[payload.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) payload[i];
        }
        return new LogEntry(kind, origin, bytes);
    }

    /** All of the message, with the bytes that a record's own equality compares by identity. */
    static String describe(PeerMessage message) {
        if (message instanceof Append append) {
            return "append " + append.term() + " " + append.previousIndex() + " " + append.previousTerm() + " "
                    + append.commitIndex() + " " + append.round() + " "
                    + append.batches().stream()
                            .map(batch -> batch + " at " + batch.timestampMs() + describe(batch.entries()))
                            .toList();
        }
        if (message instanceof Forward forward) {
            return "forward " + describe(forward.entries());
        }
        if (message instanceof SnapshotChunk chunk) {
            return "chunk " + chunk.term() + " " + chunk.lastIndex() + " " + chunk.lastTerm() + " " + chunk.length()
                    + " " + chunk.offset() + " " + Arrays.hashCode(chunk.bytes()) + " " + chunk.bytes().length;
        }
        if (message instanceof ReadIndexRequest request) {
            return "read index " + request.id() + " " + Arrays.toString(request.note());
        }
        if (message instanceof Note note) {
            return "note " + Arrays.toString(note.bytes());
        }
        return message.toString();
    }

    private static String describe(List<LogEntry> entries) {
        return entries.stream()
                .map(entry -> entry.kind() + " " + entry.origin() + " " + Arrays.toString(entry.payload()))
                .collect(Collectors.joining("; ", "[", "]"));
    }
}
