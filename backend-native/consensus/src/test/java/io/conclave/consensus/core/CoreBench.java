package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.Append;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.VoteReply;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.ConfigurationCodec;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.Origin;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One core on a bench: a test says what the others say to it, and looks at what it answers. EnsembleMember 1, directory
 * 101.
 */
final class CoreBench {
    final Core core;
    long nowMs = 1_000;
    final List<CoreOutput> outputs = new ArrayList<>();

    CoreBench(long term, boolean cut, ClusterConfiguration configuration, LogBatch... log) {
        this(term, cut, configuration, Rules.RAFT, log);
    }

    CoreBench(long term, boolean cut, ClusterConfiguration configuration, Rules rules, LogBatch... log) {
        core = new Core(
                CoreOptions.DEFAULT,
                new CoreStart(1, 101, term, 0, 0, 0, 0, configuration, 0, List.of(log), cut, term, Set.of()),
                new Random(1),
                nowMs,
                rules);
        configuration.members().keySet().forEach(id -> {
            if (id != 1) {
                core.linked(nowMs, id, 100 + id);
            }
        });
    }

    /** Members with directories 101, 102, ..., of which the first so many vote. */
    static ClusterConfiguration cluster(int members, int voters) {
        Map<Integer, EnsembleMember> all = new TreeMap<>();
        for (int id = 1; id <= members; id++) {
            all.put(id, new EnsembleMember(id, 100 + id, "host" + id, 1, "", 0, false));
        }
        Set<Integer> voting = new TreeSet<>(all.keySet());
        voting.removeIf(id -> id > voters);
        return new ClusterConfiguration(all, voting, Set.of());
    }

    static LogBatch batch(long term, long index) {
        return new LogBatch(
                term, index, 0, List.of(new LogEntry(LogEntryKind.APPLICATION, Origin.NONE, new byte[] {(byte) index
                })));
    }

    static LogBatch batch(long term, long index, ClusterConfiguration configuration) {
        return new LogBatch(
                term,
                index,
                0,
                List.of(new LogEntry(
                        LogEntryKind.CONFIGURATION, Origin.NONE, ConfigurationCodec.encode(configuration))));
    }

    List<LogEntry> entry() {
        return batch(1, 1).entries();
    }

    /** Lets time pass, and answers with what is sent. */
    List<PeerMessage> pass(long ms) {
        nowMs += ms;
        core.tick(nowMs, nowMs);
        return sent();
    }

    List<PeerMessage> receive(int from, PeerMessage message) {
        core.receive(nowMs, from, message);
        return sent();
    }

    /** Takes what is to be done, and writes at once. */
    List<PeerMessage> sent() {
        List<PeerMessage> sent = takeUnwritten();
        boolean more = false;
        for (CoreOutput output : List.copyOf(outputs)) {
            if (!output.append().isEmpty()) {
                LogBatch last = output.append().get(output.append().size() - 1);
                core.durable(nowMs, last.lastIndex(), last.term());
                more = true;
            }
        }
        if (more) {
            sent.addAll(takeUnwritten());
        }
        return sent;
    }

    List<PeerMessage> takeUnwritten() {
        outputs.clear();
        List<PeerMessage> sent = new ArrayList<>();
        CoreOutput output;
        do {
            output = core.take();
            outputs.add(output);
            output.messages().forEach(envelope -> sent.add(envelope.message()));
        } while (!output.isEmpty());
        return sent;
    }

    /** Wins an election with the vote of 2, then of 3 if that is not enough. */
    void lead() {
        pass(2_500);
        for (int voter : List.of(2, 3)) {
            receive(voter, new VoteReply(true, core.status().term() + 1, true, false, 0));
            receive(voter, new VoteReply(false, core.status().term(), true, false, 0));
        }
    }

    void acknowledge(int from, long index) {
        receive(from, new AppendReply(core.status().term(), true, index, 0, 0, lastRound));
    }

    /** The round that acknowledgements repeat. */
    long lastRound = Long.MAX_VALUE / 2;

    static <T extends PeerMessage> List<T> only(Class<T> kind, List<PeerMessage> messages) {
        return messages.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    static Append append(long term, long previous, long previousTerm, long commit, LogBatch... batches) {
        return new Append(term, previous, previousTerm, commit, 0, List.of(batches));
    }
}
