package io.conclave.consensus.peer;

import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.Append;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.Commit;
import io.conclave.consensus.core.PeerMessage.Contradiction;
import io.conclave.consensus.core.PeerMessage.Forward;
import io.conclave.consensus.core.PeerMessage.Greeting;
import io.conclave.consensus.core.PeerMessage.OfTerm;
import io.conclave.consensus.core.PeerMessage.ReadIndexReply;
import io.conclave.consensus.core.PeerMessage.Refusal;
import io.conclave.consensus.core.PeerMessage.SnapshotChunk;
import io.conclave.consensus.core.PeerMessage.SnapshotReply;
import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.entry.ConfigurationCodec;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import java.util.List;

/**
 * What every message of any member keeps, whatever its log and its term: numbers are not negative, batches follow each
 * other, and entries can be read. So what comes behind this need not ask.
 */
final class MessageShape {
    private MessageShape() {}

    /** @throws MalformedMessageException if no member can have sent it */
    static void check(PeerMessage message) {
        if (message instanceof OfTerm ofTerm) {
            atLeast("term", ofTerm.term(), 0);
        }
        if (message instanceof Append append) {
            check(append);
        } else if (message instanceof AppendReply reply) {
            index("index", reply.matchIndex());
            index("index", reply.round());
            atLeast("hint", reply.hintIndex(), -1);
            atLeast("hint", reply.hintTerm(), -1);
        } else if (message instanceof Commit commit) {
            index("index", commit.commitIndex());
        } else if (message instanceof VoteRequest request) {
            index("index", request.lastIndex());
            index("term", request.lastTerm());
        } else if (message instanceof SnapshotChunk chunk) {
            check(chunk);
        } else if (message instanceof SnapshotReply reply) {
            index("index", reply.lastIndex());
            atLeast("length", reply.received(), -1);
        } else if (message instanceof Forward forward) {
            check(forward.entries());
        } else if (message instanceof ReadIndexReply reply) {
            index("index", reply.index());
        } else if (message instanceof Greeting greeting) {
            index("index", greeting.acknowledgedIndex());
            index("index", greeting.commitIndex());
            index("term", greeting.commitTerm());
            index("index", greeting.configurationIndex());
        } else if (message instanceof Contradiction contradiction) {
            index("index", contradiction.index());
        } else if (message instanceof Refusal refusal) {
            index("incarnation", refusal.incarnation());
            atLeast("sequence", refusal.firstSequence(), 1);
            atLeast("sequence", refusal.lastSequence(), refusal.firstSequence());
        }
    }

    private static void check(Append append) {
        index("index", append.previousIndex());
        index("term", append.previousTerm());
        index("index", append.commitIndex());
        index("round", append.round());
        long next = append.previousIndex() + 1;
        long term = append.previousTerm();
        for (LogBatch batch : append.batches()) {
            if (batch.firstIndex() != next || batch.term() < term || batch.term() > append.term()) {
                throw new MalformedMessageException("an append of term " + append.term() + " with " + batch
                        + " where index " + next + " follows, of term " + term + " or later");
            }
            next = batch.lastIndex() + 1;
            term = batch.term();
            check(batch.entries());
        }
    }

    private static void check(SnapshotChunk chunk) {
        atLeast("index", chunk.lastIndex(), 1);
        index("term", chunk.lastTerm());
        atLeast("length", chunk.length(), 1);
        index("offset", chunk.offset());
        if (chunk.offset() > chunk.length() - chunk.bytes().length) {
            throw new MalformedMessageException("a chunk of " + chunk.bytes().length + " bytes at " + chunk.offset()
                    + " of a snapshot of " + chunk.length());
        }
    }

    private static void check(List<LogEntry> entries) {
        for (LogEntry entry : entries) {
            int bytes = entry.payload().length;
            boolean fits =
                    switch (entry.kind()) {
                        case APPLICATION, STARTED -> true;
                        case TERM -> bytes == 0;
                        case FEATURE_LEVEL -> bytes == Integer.BYTES;
                        case CONFIGURATION -> isConfiguration(entry.payload());
                    };
            if (!fits) {
                throw new MalformedMessageException(entry + " cannot be");
            }
        }
    }

    private static boolean isConfiguration(byte[] payload) {
        try {
            ConfigurationCodec.decode(payload);
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }

    /** Not negative, and one more can follow. */
    private static void index(String what, long value) {
        if (value == Long.MAX_VALUE) {
            throw new MalformedMessageException(what + " " + value + " in a message");
        }
        atLeast(what, value, 0);
    }

    private static void atLeast(String what, long value, long least) {
        if (value < least) {
            throw new MalformedMessageException(what + " " + value + " in a message");
        }
    }
}
