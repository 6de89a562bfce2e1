package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.Origin;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Some cores whose messages take a millisecond and whose disks are fast, and on which nothing happens by itself: a test
 * says which members are started with what, which are linked to which, and when. EnsembleMember N has directory 100 +
 * N.
 */
final class QuietCluster {
    private record Sent(int from, int to, PeerMessage message) {}

    /** One process. */
    static final class Process {
        final Core core;
        /** By first index: what was applied since its start. */
        final TreeMap<Long, LogBatch> applied = new TreeMap<>();

        Optional<WrongDiskException> end = Optional.empty();
        private long appliedIndex;

        Process(Core core, long baseIndex) {
            this.core = core;
            appliedIndex = baseIndex;
        }

        boolean leads() {
            return core.role() == CoreRole.LEADER;
        }
    }

    final TreeMap<Integer, Process> up = new TreeMap<>();
    private final Set<Integer> all;
    private final Set<List<Integer>> links = new HashSet<>();
    private final Queue<Sent> wire = new ArrayDeque<>();
    long nowMs = 1_000;

    QuietCluster(Integer... members) {
        all = Set.of(members);
    }

    // ---- members

    static ClusterConfiguration configuration(Set<Integer> members, Set<Integer> voters) {
        Map<Integer, EnsembleMember> map = new TreeMap<>();
        members.forEach(id -> map.put(id, new EnsembleMember(id, 100 + id, "host" + id, 1, "", 0, false)));
        return new ClusterConfiguration(map, voters, Set.of());
    }

    /** Starts a member with an empty log in the term; {@code torn} if it lost its end in that term. */
    Process start(int id, long term, ClusterConfiguration configuration, boolean torn) {
        Set<Integer> others = new HashSet<>(all);
        others.remove(id);
        CoreStart start =
                new CoreStart(id, 100 + id, term, 0, 0, 0, 0, configuration, 0, List.of(), torn, term, others);
        Process process = new Process(new Core(CoreOptions.DEFAULT, start, new SplittableRandom(id), nowMs), 0);
        up.put(id, process);
        return process;
    }

    Process process(int id) {
        return up.get(id);
    }

    void link(int from, int to) {
        links.add(List.of(from, to));
        up.get(from).core.linked(nowMs, to, 100 + to);
    }

    void linkAll() {
        up.keySet()
                .forEach(from ->
                        up.keySet().stream().filter(to -> !to.equals(from)).forEach(to -> link(from, to)));
    }

    void kill(int id) {
        up.remove(id);
        links.removeIf(link -> link.contains(id));
        up.values().forEach(other -> other.core.linkLost(nowMs, id));
    }

    void send(int from, int to, PeerMessage message) {
        if (links.contains(List.of(from, to))) {
            wire.add(new Sent(from, to, message));
        }
    }

    // ---- time

    void pass(long ms) {
        for (long until = nowMs + ms; nowMs < until; nowMs++) {
            List<Sent> arriving = new ArrayList<>(wire);
            wire.clear();
            arriving.forEach(this::deliver);
            up.forEach((id, process) -> turn(id, process, () -> {}));
        }
    }

    private void deliver(Sent sent) {
        Process receiver = up.get(sent.to());
        if (receiver != null && up.containsKey(sent.from())) {
            turn(sent.to(), receiver, () -> receiver.core.receive(nowMs, sent.from(), sent.message()));
        }
    }

    private void turn(int id, Process process, Runnable input) {
        if (process.end.isPresent()) {
            return;
        }
        try {
            input.run();
            if (nowMs >= process.core.nextTickMs()) {
                process.core.tick(nowMs, nowMs);
            }
            CoreOutput output;
            do {
                output = process.core.take();
                carryOut(id, process, output);
            } while (!output.isEmpty());
        } catch (WrongDiskException e) {
            process.end = Optional.of(e);
        }
    }

    private void carryOut(int id, Process process, CoreOutput output) {
        output.messages().forEach(envelope -> send(id, envelope.to(), envelope.message()));
        if (!output.append().isEmpty()) {
            LogBatch last = output.append().get(output.append().size() - 1);
            process.core.durable(nowMs, last.lastIndex(), last.term());
        }
        for (LogBatch batch : SimulatedMember.batches(process.core, process.appliedIndex, process.core.commitIndex())) {
            process.applied.put(batch.firstIndex(), batch);
            process.appliedIndex = batch.lastIndex();
        }
        process.core.applied(process.appliedIndex);
    }

    // ---- work

    /** Of those that lead, the one of the highest term; 0 if there is none. */
    int leader() {
        int leader = 0;
        for (int id : up.keySet()) {
            Process process = up.get(id);
            if (process.end.isEmpty()
                    && process.leads()
                    && (leader == 0 || process.core.term() > up.get(leader).core.term())) {
                leader = id;
            }
        }
        return leader;
    }

    void propose(int count) {
        Process leader = up.get(leader());
        for (int i = 0; i < count; i++) {
            byte[] payload = ("write " + i).getBytes(StandardCharsets.UTF_8);
            leader.core.propose(nowMs, nowMs, List.of(new LogEntry(LogEntryKind.APPLICATION, Origin.NONE, payload)));
        }
    }

    /** Whether no two of those alive have applied different batches at one place. */
    boolean agrees() {
        Map<Long, LogBatch> seen = new TreeMap<>();
        for (Process process : up.values()) {
            if (process.end.isPresent()) {
                continue;
            }
            for (LogBatch batch : process.applied.values()) {
                LogBatch other = seen.putIfAbsent(batch.firstIndex(), batch);
                if (other != null && other.term() != batch.term()) {
                    return false;
                }
            }
        }
        return true;
    }
}
