package io.conclave.consensus.simulation;

import io.conclave.consensus.CommittedBatch;
import io.conclave.consensus.CommittedEntry;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogEntryKind;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * One run of a naive application: counts what it applies, keeps a digest of it, and owes every proposal an outcome.
 */
final class CounterMachine implements StateMachine, LogListener, SimulatedMember.Application {
    private final EnsembleHistory history;
    private final int member;
    private final long proposer;
    private final int snapshotPadding;

    long index;
    long count;
    long digest;
    boolean serving;
    boolean over;
    long leadingTerm;
    int notes;
    int unknown;
    int installs;

    /** As far as this run has seen it applied. */
    int featureLevel;

    /** The state is gone, and the next one is not here yet. */
    boolean reading;

    /** What other members have said to this one. */
    final List<String> told = new ArrayList<>();

    ClusterConfiguration configuration = ClusterConfiguration.NONE;

    /** Proposals without an outcome. */
    final Map<Long, Proposed> open = new LinkedHashMap<>();

    CounterMachine(EnsembleHistory history, int member, int snapshotPadding) {
        this.history = history;
        this.member = member;
        this.proposer = history.newId();
        this.snapshotPadding = snapshotPadding;
    }

    final class Proposed implements Proposal {
        final long id = history.newId();
        private final byte[] payload;

        private Proposed(int bytes) {
            payload = ByteBuffer.allocate(Math.max(16, bytes))
                    .putLong(id)
                    .putLong(proposer)
                    .array();
        }

        @Override
        public byte[] payload() {
            return payload;
        }

        @Override
        public void rejected(Rejection reason) {
            end(this);
            history.rejected(id);
            history.rejectedElsewhere += leadingTerm == 0 ? 1 : 0;
        }

        @Override
        public void outcomeUnknown() {
            end(this);
            unknown++;
        }
    }

    static long idOf(byte[] payload) {
        return ByteBuffer.wrap(payload).getLong();
    }

    static long proposerOf(byte[] payload) {
        return ByteBuffer.wrap(payload).getLong(8);
    }

    Proposed proposal(int bytes) {
        return new Proposed(bytes);
    }

    private void end(Proposed proposed) {
        if (open.remove(proposed.id) == null) {
            throw new AssertionError("proposal " + proposed.id + " has a second outcome");
        }
    }

    private void requireLife() {
        if (over) {
            throw new AssertionError("member " + member + " goes on after its end");
        }
    }

    /** Everything that shows the state to others, or continues from it. */
    void requireState() {
        requireLife();
        if (reading) {
            throw new AssertionError("member " + member + " goes on without a state");
        }
    }

    // ---- StateMachine

    @Override
    public void begin(UUID clusterId) {
        requireLife();
    }

    @Override
    public void apply(CommittedBatch batch) {
        requireState();
        if (batch.firstIndex() <= index) {
            throw new AssertionError("index " + batch.firstIndex() + " is applied after " + index);
        }
        history.applied(batch);
        index = batch.lastIndex();
        for (CommittedEntry entry : batch.entries()) {
            long value = valueOf(batch, entry);
            if (entry.kind() == LogEntryKind.FEATURE_LEVEL) {
                featureLevel = Math.max(featureLevel, (int) value);
            }
            count++;
            digest = digest * 31 + value;
            if (entry.origin() instanceof Proposed proposed) {
                if (proposed.id != value) {
                    throw new AssertionError("proposal " + proposed.id + " comes back as " + value);
                }
                end(proposed);
                history.acknowledged(proposed.id, batch.firstIndex());
            }
        }
    }

    static long valueOf(CommittedBatch batch, CommittedEntry entry) {
        return switch (entry.kind()) {
            case TERM -> batch.term();
            case FEATURE_LEVEL -> ByteBuffer.wrap(entry.payload()).getInt();
            default -> idOf(entry.payload());
        };
    }

    @Override
    public StateSnapshot snapshot() {
        requireState();
        long[] now = {index, count, digest};
        return out -> {
            DataOutputStream data = new DataOutputStream(out);
            for (long value : now) {
                data.writeLong(value);
            }
            data.writeInt(snapshotPadding);
            data.write(new byte[snapshotPadding]);
            data.flush();
        };
    }

    @Override
    public void drop() {
        requireLife();
        if (serving) {
            throw new AssertionError("the state of member " + member + " is dropped while it serves");
        }
        if (reading) {
            history.statesOvertaken++;
        } else {
            history.beginsToRead();
        }
        reading = true;
        count = -1;
        digest = -1;
    }

    @Override
    public Runnable read(InputStream snapshot) throws IOException {
        DataInputStream data = new DataInputStream(snapshot);
        long newIndex = data.readLong();
        long newCount = data.readLong();
        long newDigest = data.readLong();
        data.skipNBytes(data.readInt());
        return () -> {
            requireLife();
            if (serving) {
                throw new AssertionError("the state of member " + member + " is replaced while it serves");
            }
            if (reading) {
                history.statesRead++;
                history.readsNoMore();
            }
            reading = false;
            installs++;
            index = newIndex;
            count = newCount;
            digest = newDigest;
        };
    }

    // ---- LogListener

    @Override
    public void leading(long term) {
        requireState();
        if (leadingTerm != 0) {
            throw new AssertionError("leads in " + term + " without having been deposed in " + leadingTerm);
        }
        leadingTerm = term;
        history.leads(member, term);
    }

    @Override
    public void deposed() {
        requireLife();
        if (leadingTerm == 0) {
            throw new AssertionError("deposed, and did not lead");
        }
        leadingTerm = 0;
    }

    @Override
    public void told(int member, byte[] note) {
        told.add(member + " " + new String(note, StandardCharsets.UTF_8));
    }

    @Override
    public boolean noted(int from, byte[] note) {
        requireLife();
        notes++;
        return true;
    }

    @Override
    public void serving(boolean now) {
        requireLife();
        if (serving == now) {
            throw new AssertionError("informed twice that serving is " + now);
        }
        if (now) {
            requireState();
        }
        serving = now;
    }

    @Override
    public void configured(ClusterConfiguration newConfiguration) {
        requireLife();
        configuration = newConfiguration;
    }

    // ---- Application

    @Override
    public StateMachine machine() {
        return this;
    }

    @Override
    public LogListener listener() {
        return this;
    }

    @Override
    public boolean isReading() {
        return reading;
    }

    @Override
    public void ended() {
        over = true;
        if (reading) {
            history.diedReading++;
            history.readsNoMore();
        }
        open.clear();
    }
}
