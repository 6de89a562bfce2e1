package io.conclave.consensus.peer;

import io.conclave.consensus.core.CoreStatus;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.Append;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.Commit;
import io.conclave.consensus.core.PeerMessage.Contradiction;
import io.conclave.consensus.core.PeerMessage.ReadIndexReply;
import io.conclave.consensus.core.PeerMessage.ReadIndexRequest;
import io.conclave.consensus.core.PeerMessage.SnapshotChunk;
import io.conclave.consensus.core.PeerMessage.SnapshotReply;
import io.conclave.consensus.core.PeerMessage.TimeoutNow;
import io.conclave.consensus.core.PeerMessage.VoteReply;
import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.Origin;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Messages of a member that has the secret and says what no member should, near enough to the truth to be believed. */
final class HostileMember {
    private final Random random;

    /** Whether it lets the receiver lead, to lie as its follower; else it leads. */
    private final boolean follows;

    HostileMember(Random random) {
        this.random = random;
        this.follows = random.nextBoolean();
    }

    /** @param directory of the receiver */
    PeerMessage message(CoreStatus status, long directory) {
        long term = term(status);
        if (random.nextInt(500) == 0) {
            return new Contradiction(term, index(status), term(status));
        }
        return switch (random.nextInt(follows ? 9 : 15)) {
            case 0 ->
                new VoteRequest(
                        random.nextBoolean(), term, index(status), term(status), directory, random.nextBoolean());
            case 1, 2 -> {
                boolean pre = random.nextBoolean();
                yield new VoteReply(
                        pre, status.term() + (pre ? 1 : 0), random.nextInt(4) > 0, random.nextBoolean(), term(status));
            }
            case 3, 4, 5 ->
                new AppendReply(
                        random.nextInt(4) > 0 ? status.term() : term,
                        random.nextInt(4) > 0,
                        index(status),
                        index(status),
                        term(status),
                        random.nextInt(20));
            case 6 -> new SnapshotReply(status.term(), index(status), random.nextInt(100), random.nextBoolean());
            case 7 -> new ReadIndexRequest(random.nextInt(5), new byte[random.nextInt(2)]);
            case 8 -> new ReadIndexReply(term, random.nextInt(5), index(status));
            case 9 -> new Commit(term, index(status));
            case 10 -> new TimeoutNow(term);
            case 11 -> {
                int length = 1 + random.nextInt(100);
                int offset = random.nextInt(length);
                yield new SnapshotChunk(
                        term, index(status) + 1, term(status), length, offset, new byte[length - offset]);
            }
            default -> append(status, term);
        };
    }

    private Append append(CoreStatus status, long term) {
        long previous = index(status);
        long previousTerm = Math.min(term, term(status));
        List<LogBatch> batches = new ArrayList<>();
        long next = previous + 1;
        long batchTerm = previousTerm;
        for (int i = random.nextInt(4); i > 0; i--) {
            batchTerm += random.nextInt(3) == 0 ? random.nextInt(2) : 0;
            List<LogEntry> entries = new ArrayList<>();
            for (int e = 1 + random.nextInt(3); e > 0; e--) {
                LogEntryKind[] kinds = LogEntryKind.values();
                LogEntryKind kind =
                        random.nextInt(100) == 0 ? kinds[random.nextInt(kinds.length)] : LogEntryKind.APPLICATION;
                entries.add(new LogEntry(kind, Origin.NONE, new byte[random.nextInt(3)]));
            }
            batches.add(new LogBatch(batchTerm, next, random.nextInt(1000), entries));
            next += entries.size() + (random.nextInt(20) == 0 ? random.nextInt(3) - 1 : 0);
            batchTerm += random.nextInt(50) == 0 ? random.nextInt(3) - 1 : 0;
        }
        return new Append(term, previous, previousTerm, index(status), random.nextInt(10), batches);
    }

    private long term(CoreStatus status) {
        return switch (random.nextInt(10)) {
            case 0 -> Math.max(0, status.term() - random.nextInt(3));
            case 1 -> status.term() + 1 + random.nextInt(2);
            case 2 -> random.nextInt(20) == 0 ? strange() : status.term();
            default -> status.term();
        };
    }

    private long index(CoreStatus status) {
        return switch (random.nextInt(12)) {
            case 0 -> strange();
            case 1 -> 0;
            case 2, 3, 4 -> Math.max(0, status.commitIndex() - 3 + random.nextInt(6));
            default -> Math.max(0, status.lastIndex() - 4 + random.nextInt(8));
        };
    }

    private long strange() {
        return switch (random.nextInt(5)) {
            case 0 -> Long.MAX_VALUE;
            case 1 -> Long.MIN_VALUE;
            case 2 -> -1;
            case 3 -> (1L << 40) + random.nextInt(1000);
            default -> random.nextLong();
        };
    }
}
