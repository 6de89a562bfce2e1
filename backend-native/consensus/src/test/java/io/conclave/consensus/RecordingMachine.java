package io.conclave.consensus;

import io.conclave.consensus.entry.EntryKind;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/** Remembers all it was given; its snapshot is the whole of it. */
final class RecordingMachine implements StateMachine {

    /** One applied entry. */
    record Seen(long index, long term, long timestampMs, EntryKind kind, int payloadHash) {}

    private final List<Seen> seen = new ArrayList<>();

    List<Seen> seen() {
        return seen;
    }

    static Seen seenOf(CommittedBatch batch, int number) {
        CommittedEntry entry = batch.entries().get(number);
        return new Seen(
                batch.firstIndex() + number,
                batch.term(),
                batch.timestampMs(),
                entry.kind(),
                Arrays.hashCode(entry.payload()));
    }

    @Override
    public void begin(UUID clusterId) {}

    @Override
    public void apply(CommittedBatch batch) {
        for (int i = 0; i < batch.entries().size(); i++) {
            Seen entry = seenOf(batch, i);
            if (entry.index() != seen.size() + 1) {
                throw new AssertionError("index " + entry.index() + " applied after " + seen.size());
            }
            seen.add(entry);
            if (batch.entries().get(i).origin() instanceof RecordingProposal proposal) {
                proposal.acknowledged = true;
            }
        }
    }

    @Override
    public StateSnapshot snapshot() {
        List<Seen> copy = List.copyOf(seen);
        return out -> {
            DataOutputStream data = new DataOutputStream(out);
            data.writeInt(copy.size());
            for (Seen entry : copy) {
                data.writeLong(entry.index);
                data.writeLong(entry.term);
                data.writeLong(entry.timestampMs);
                data.writeByte(entry.kind.code());
                data.writeInt(entry.payloadHash);
            }
            data.flush();
        };
    }

    @Override
    public Runnable read(InputStream snapshot) throws IOException {
        DataInputStream data = new DataInputStream(snapshot);
        List<Seen> read = new ArrayList<>();
        int count = data.readInt();
        for (int i = 0; i < count; i++) {
            read.add(new Seen(
                    data.readLong(), data.readLong(), data.readLong(), EntryKind.of(data.readByte()), data.readInt()));
        }
        if (data.read() >= 0) {
            throw new IOException("the snapshot goes on behind its end");
        }
        return () -> {
            seen.clear();
            seen.addAll(read);
        };
    }
}
