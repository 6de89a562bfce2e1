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
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;

/**
 * Messages as bytes: a type, then the fields in the order of the record; numbers big-endian. The layout belongs to
 * {@link PeerHandshake#PLAIN} and {@link PeerHandshake#PROVEN}.
 *
 * <pre>
 *   flag    1: 0 or 1
 *   bytes   length 4 | bytes
 *   entry   kind 1 | origin: member 1, incarnation 8, sequence 8 | bytes
 *   entries count 4 | entry ...
 *   start   directory 8 | number 8 | id 8
 *   batch   term 8 | first index 8 | timestamp 8 | entries
 * </pre>
 */
final class MessageCodec {
    static final int ENTRY_HEADER_BYTES = 1 + 1 + 8 + 8 + 4;
    private static final int BATCH_HEADER_BYTES = 8 + 8 + 8 + 4;

    private static final byte VOTE_REQUEST = 1;
    private static final byte VOTE_REPLY = 2;
    private static final byte APPEND = 3;
    private static final byte APPEND_REPLY = 4;
    private static final byte SNAPSHOT_CHUNK = 5;
    private static final byte SNAPSHOT_REPLY = 6;
    private static final byte TIMEOUT_NOW = 7;
    private static final byte READ_INDEX_REQUEST = 8;
    private static final byte READ_INDEX_REPLY = 9;
    private static final byte FORWARD = 10;
    private static final byte COMMIT = 11;

    /** Goes to members only that have shown that they know it, by what they say to the leader's application. */
    private static final byte NOTE = 12;

    private static final byte GREETING = 13;
    private static final byte CONTRADICTION = 14;

    /** Sent when {@link Refusal#FEATURE_LEVEL} is in force. */
    private static final byte REFUSAL = 15;

    private MessageCodec() {}

    /** An upper bound of the message's bytes, near enough to make room by. */
    static long roomFor(PeerMessage message) {
        long room = 64;
        if (message instanceof Append append) {
            for (LogBatch batch : append.batches()) {
                room += BATCH_HEADER_BYTES + roomFor(batch.entries());
            }
        } else if (message instanceof Forward forward) {
            room += roomFor(forward.entries());
        } else if (message instanceof SnapshotChunk chunk) {
            room += chunk.bytes().length;
        } else if (message instanceof ReadIndexRequest request) {
            room += request.note().length;
        } else if (message instanceof Note note) {
            room += note.bytes().length;
        }
        return room;
    }

    private static long roomFor(List<LogEntry> entries) {
        long room = (long) entries.size() * ENTRY_HEADER_BYTES;
        for (LogEntry entry : entries) {
            room += entry.payload().length;
        }
        return room;
    }

    static void write(ByteBuf out, PeerMessage message) {
        if (message instanceof Append append) {
            writeAppend(out, append);
        } else if (message instanceof AppendReply reply) {
            out.writeByte(APPEND_REPLY).writeLong(reply.term()).writeBoolean(reply.accepted());
            out.writeLong(reply.matchIndex()).writeLong(reply.hintIndex()).writeLong(reply.hintTerm());
            out.writeLong(reply.round());
        } else if (message instanceof Commit commit) {
            out.writeByte(COMMIT).writeLong(commit.term()).writeLong(commit.commitIndex());
        } else if (message instanceof Forward forward) {
            out.writeByte(FORWARD);
            writeEntries(out, forward.entries());
        } else if (message instanceof ReadIndexRequest request) {
            writeBytes(out.writeByte(READ_INDEX_REQUEST).writeLong(request.id()), request.note());
        } else if (message instanceof ReadIndexReply reply) {
            out.writeByte(READ_INDEX_REPLY).writeLong(reply.term());
            out.writeLong(reply.id()).writeLong(reply.index());
        } else {
            writeRare(out, message);
        }
    }

    private static void writeRare(ByteBuf out, PeerMessage message) {
        if (message instanceof VoteRequest request) {
            out.writeByte(VOTE_REQUEST).writeBoolean(request.pre()).writeLong(request.term());
            out.writeLong(request.lastIndex()).writeLong(request.lastTerm());
            out.writeLong(request.voterDirectory()).writeBoolean(request.transfer());
        } else if (message instanceof VoteReply reply) {
            out.writeByte(VOTE_REPLY).writeBoolean(reply.pre()).writeLong(reply.term());
            out.writeBoolean(reply.granted()).writeBoolean(reply.provisional()).writeLong(reply.doubtTerm());
        } else if (message instanceof SnapshotChunk chunk) {
            out.writeByte(SNAPSHOT_CHUNK).writeLong(chunk.term()).writeLong(chunk.lastIndex());
            out.writeLong(chunk.lastTerm()).writeLong(chunk.length()).writeLong(chunk.offset());
            writeBytes(out, chunk.bytes());
        } else if (message instanceof SnapshotReply reply) {
            out.writeByte(SNAPSHOT_REPLY).writeLong(reply.term()).writeLong(reply.lastIndex());
            out.writeLong(reply.received()).writeBoolean(reply.installed());
        } else if (message instanceof TimeoutNow now) {
            out.writeByte(TIMEOUT_NOW).writeLong(now.term());
        } else if (message instanceof Note note) {
            writeBytes(out.writeByte(NOTE), note.bytes());
        } else if (message instanceof Greeting greeting) {
            writeStart(out.writeByte(GREETING), greeting.known());
            out.writeLong(greeting.acknowledgedIndex()).writeLong(greeting.commitIndex());
            out.writeLong(greeting.commitTerm()).writeLong(greeting.configurationIndex());
        } else if (message instanceof Contradiction contradiction) {
            out.writeByte(CONTRADICTION).writeLong(contradiction.term());
            out.writeLong(contradiction.index()).writeLong(contradiction.termThere());
        } else if (message instanceof Refusal refusal) {
            out.writeByte(REFUSAL).writeLong(refusal.term()).writeLong(refusal.incarnation());
            out.writeLong(refusal.firstSequence()).writeLong(refusal.lastSequence());
        } else {
            throw new IllegalArgumentException("there are no bytes for a " + message.getClass());
        }
    }

    private static void writeStart(ByteBuf out, Start start) {
        out.writeLong(start.directory()).writeLong(start.number()).writeLong(start.id());
    }

    private static void writeAppend(ByteBuf out, Append append) {
        out.writeByte(APPEND).writeLong(append.term());
        out.writeLong(append.previousIndex()).writeLong(append.previousTerm());
        out.writeLong(append.commitIndex()).writeLong(append.round());
        out.writeInt(append.batches().size());
        for (LogBatch batch : append.batches()) {
            out.writeLong(batch.term()).writeLong(batch.firstIndex()).writeLong(batch.timestampMs());
            writeEntries(out, batch.entries());
        }
    }

    private static void writeEntries(ByteBuf out, List<LogEntry> entries) {
        out.writeInt(entries.size());
        for (LogEntry entry : entries) {
            Origin origin = entry.origin();
            out.writeByte(entry.kind().code()).writeByte(origin.member());
            out.writeLong(origin.incarnation()).writeLong(origin.sequence());
            writeBytes(out, entry.payload());
        }
    }

    private static void writeBytes(ByteBuf out, byte[] bytes) {
        out.writeInt(bytes.length).writeBytes(bytes);
    }

    /**
     * The message that fills the frame.
     *
     * @throws MalformedMessageException if there is none; nothing is allocated beyond what the frame has
     */
    static PeerMessage read(ByteBuf frame) {
        try {
            byte type = frame.readByte();
            PeerMessage message = read(type, frame);
            if (frame.isReadable()) {
                throw new MalformedMessageException(
                        frame.readableBytes() + " bytes are left behind a message of type " + type);
            }
            MessageShape.check(message);
            return message;
        } catch (IndexOutOfBoundsException e) {
            throw new MalformedMessageException("a message ends in its middle");
        }
    }

    private static PeerMessage read(byte type, ByteBuf in) {
        return switch (type) {
            case VOTE_REQUEST ->
                new VoteRequest(readFlag(in), in.readLong(), in.readLong(), in.readLong(), in.readLong(), readFlag(in));
            case VOTE_REPLY -> new VoteReply(readFlag(in), in.readLong(), readFlag(in), readFlag(in), in.readLong());
            case APPEND ->
                new Append(in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong(), readBatches(in));
            case APPEND_REPLY ->
                new AppendReply(
                        in.readLong(), readFlag(in), in.readLong(), in.readLong(), in.readLong(), in.readLong());
            case SNAPSHOT_CHUNK ->
                new SnapshotChunk(
                        in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong(), readBytes(in));
            case SNAPSHOT_REPLY -> new SnapshotReply(in.readLong(), in.readLong(), in.readLong(), readFlag(in));
            case TIMEOUT_NOW -> new TimeoutNow(in.readLong());
            case READ_INDEX_REQUEST -> new ReadIndexRequest(in.readLong(), readBytes(in));
            case READ_INDEX_REPLY -> new ReadIndexReply(in.readLong(), in.readLong(), in.readLong());
            case FORWARD -> new Forward(readEntries(in));
            case COMMIT -> new Commit(in.readLong(), in.readLong());
            case NOTE -> new Note(readBytes(in));
            case GREETING -> new Greeting(readStart(in), in.readLong(), in.readLong(), in.readLong(), in.readLong());
            case CONTRADICTION -> new Contradiction(in.readLong(), in.readLong(), in.readLong());
            case REFUSAL -> new Refusal(in.readLong(), in.readLong(), in.readLong(), in.readLong());
            default -> throw new MalformedMessageException("message type " + type + " is unknown to this version");
        };
    }

    private static Start readStart(ByteBuf in) {
        return new Start(in.readLong(), in.readLong(), in.readLong());
    }

    private static List<LogBatch> readBatches(ByteBuf in) {
        int count = readCount(in, BATCH_HEADER_BYTES, "batches");
        List<LogBatch> batches = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long term = in.readLong();
            long firstIndex = in.readLong();
            long timestampMs = in.readLong();
            List<LogEntry> entries = readEntries(in);
            if (entries.isEmpty()) {
                throw new MalformedMessageException("a batch has no entries");
            }
            batches.add(new LogBatch(term, firstIndex, timestampMs, entries));
        }
        return batches;
    }

    private static List<LogEntry> readEntries(ByteBuf in) {
        int count = readCount(in, ENTRY_HEADER_BYTES, "entries");
        List<LogEntry> entries = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            LogEntryKind kind = readKind(in);
            int member = in.readUnsignedByte();
            long incarnation = in.readLong();
            long sequence = in.readLong();
            Origin origin = member == 0 && incarnation == 0 && sequence == 0
                    ? Origin.NONE
                    : new Origin(member, incarnation, sequence);
            entries.add(new LogEntry(kind, origin, readBytes(in)));
        }
        return entries;
    }

    private static LogEntryKind readKind(ByteBuf in) {
        try {
            return LogEntryKind.of(in.readByte());
        } catch (IllegalArgumentException e) {
            throw new MalformedMessageException(String.valueOf(e.getMessage()));
        }
    }

    /** A count that what is left can hold. */
    private static int readCount(ByteBuf in, int leastBytesEach, String what) {
        int count = in.readInt();
        if (count < 0 || count > in.readableBytes() / leastBytesEach) {
            throw new MalformedMessageException(
                    "a count of " + count + " " + what + " is more than " + in.readableBytes() + " bytes can hold");
        }
        return count;
    }

    private static byte[] readBytes(ByteBuf in) {
        int length = in.readInt();
        if (length < 0 || length > in.readableBytes()) {
            throw new MalformedMessageException(
                    "a length of " + length + " where " + in.readableBytes() + " bytes are left");
        }
        byte[] bytes = new byte[length];
        in.readBytes(bytes);
        return bytes;
    }

    private static boolean readFlag(ByteBuf in) {
        byte flag = in.readByte();
        if (flag != 0 && flag != 1) {
            throw new MalformedMessageException("a flag of " + flag);
        }
        return flag == 1;
    }
}
