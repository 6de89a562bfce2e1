package io.conclave.consensus.peer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.core.Complaint;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.CoreOptions;
import io.conclave.consensus.core.CoreOutput;
import io.conclave.consensus.core.CoreStart;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.WrongDiskException;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * A member's core and hostile members that have the secret: whatever they say, it goes on, keeps what it has committed,
 * and ends only because of its own disk.
 */
class PeerMessageFuzzTest {
    private static final int RUNS = Integer.getInteger("conclave.fuzz.runs", 300);
    private static final int MESSAGES = 400;

    private final Map<Integer, EnsembleMember> members = new TreeMap<>();
    private int complaints;
    private int malformed;
    private int ends;
    private int led;
    private int committed;

    @Test
    void whateverAMemberSaysTheCoreGoesOnAndKeepsWhatItHasCommitted() {
        for (int id = 1; id <= 3; id++) {
            members.put(id, new EnsembleMember(id, 100 + id, "host" + id, 1, "", 0, false));
        }
        long first = Long.getLong("conclave.fuzz.seed", new Random().nextLong());
        for (int run = 0; run < RUNS; run++) {
            long seed = first + run;
            try {
                run(seed);
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed + " (-Dconclave.fuzz.seed)", e);
            }
        }
        String what = complaints + " complaints, " + malformed + " malformed, " + ends + " ends, " + led + " led, "
                + committed + " committed";
        assertTrue(complaints > RUNS && malformed > RUNS && led > RUNS / 10 && committed > RUNS, what);
    }

    private void run(long seed) {
        Random random = new Random(seed);
        HostileMember hostile = new HostileMember(random);
        boolean keepsLittle = random.nextBoolean(); // so that others need snapshots
        Core core = new Core(
                keepsLittle ? new CoreOptions(1_000, 200, 8, 64, 4, 0, 0) : CoreOptions.DEFAULT,
                new CoreStart(
                        1,
                        101,
                        3,
                        0,
                        0,
                        0,
                        0,
                        new ClusterConfiguration(members, Set.of(1, 2, 3), Set.of()),
                        0,
                        List.of(),
                        random.nextInt(4) == 0,
                        3,
                        Set.of()),
                new Random(seed),
                0);
        core.linked(0, 2, 102);
        core.linked(0, 3, 103);
        Map<Long, Long> termOfCommitted = new HashMap<>();
        long nowMs = 0;
        for (int i = 0; i < MESSAGES; i++) {
            int from = 2 + random.nextInt(2);
            nowMs += random.nextInt(10) == 0 ? random.nextInt(3000) : random.nextInt(5);
            try {
                step(core, hostile, random, from, nowMs);
            } catch (MalformedMessageException e) {
                malformed++; // the link ends
            } catch (WrongDiskException e) {
                ends++;
                return;
            }
            take(core, nowMs, termOfCommitted);
        }
    }

    private void step(Core core, HostileMember hostile, Random random, int from, long nowMs) {
        switch (random.nextInt(12)) {
            case 0 -> core.tick(nowMs, nowMs);
            case 1 -> {
                if (core.takesProposals()) {
                    led++;
                    core.propose(nowMs, nowMs, MessageSamples.batch(1, 1).entries());
                }
            }
            case 2 -> core.linkLost(nowMs, from);
            case 3 -> core.linked(nowMs, from, random.nextInt(5) == 0 ? 999 : 100 + from);
            default -> {
                PeerMessage said = hostile.message(core.status(), 101);
                ByteBuf bytes = Unpooled.buffer();
                MessageCodec.write(bytes, said);
                if (random.nextInt(10) == 0) {
                    bytes.setByte(random.nextInt(bytes.readableBytes()), random.nextInt());
                }
                core.receive(nowMs, from, MessageCodec.read(bytes));
                Complaint complaint = core.takeComplaint();
                if (!complaint.isNone()) {
                    complaints++;
                }
            }
        }
    }

    /** Everything is written at once. */
    private void take(Core core, long nowMs, Map<Long, Long> termOfCommitted) {
        CoreOutput output;
        do {
            output = core.take();
            output.messages().forEach(envelope -> MessageShape.check(envelope.message()));
            if (!output.append().isEmpty()) {
                LogBatch last = output.append().get(output.append().size() - 1);
                core.durable(nowMs, last.lastIndex(), last.term());
            }
            long commitIndex = core.commitIndex();
            output.snapshotsWanted()
                    .forEach(to -> core.snapshotSending(nowMs, to, core.status().commitIndex(), false));
            if (core.termAt(commitIndex) >= 0
                    && termOfCommitted.putIfAbsent(commitIndex, core.termAt(commitIndex)) == null) {
                committed++;
            }
        } while (!output.isEmpty());
        termOfCommitted.forEach((index, term) -> assertTrue(
                core.termAt(index) == term || !core.isInMemory(index),
                "index " + index + " was committed in term " + term));
        core.applied(core.status().commitIndex());
    }
}
