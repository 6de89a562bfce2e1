package io.conclave.simulation;

import io.conclave.consensus.CommittedBatch;
import io.conclave.consensus.CommittedEntry;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.replica.Replica;
import io.conclave.replica.Step;
import io.conclave.server.SimulatedServer;
import io.conclave.tree.Change;
import io.conclave.tree.Result;
import io.conclave.tree.SessionRecord;
import io.conclave.tree.TreeError;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.TreeOperation;
import io.conclave.tree.TreeState;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * What is so: the committed log as the first member to apply it sees it, and every state that it makes. All others have
 * to see the same, whatever they go through, and what clients see is compared with it.
 */
final class Truth {
    /** Digests are compared at every so many batches, since they take a walk over the tree. */
    private static final int DIGEST_EVERY = 16;

    private static final int MAX_SERVING_CHANGES = 100;

    private record Batch(long lastIndex, long term, long timestampMs, int hash) {}

    /** A session, seen from above. */
    static final class Session {
        final long id;
        final int timeoutMs;
        long attachment;
        boolean closed;
        boolean expired;
        long closedAtUs = Long.MAX_VALUE;

        /** When its client sent the last request that it was answered, of those that keep a session alive. */
        long answeredSentUs = Long.MIN_VALUE / 2;

        Session(long id, int timeoutMs) {
            this.id = id;
            this.timeoutMs = timeoutMs;
        }

        /** It must not end before, since its client relies on it. */
        long safeUntilUs() {
            return answeredSentUs + (long) (timeoutMs * 1000 / (1 + MachineClock.MAX_DRIFT)) - 2000;
        }
    }

    private final Simulation world;
    private final Replica replica = new Replica(SimulatedServer.FEATURE_LEVEL);
    private final Map<Long, Batch> batches = new HashMap<>();
    private final Map<Long, TreeState> states = new HashMap<>();
    private final Map<Long, Step> steps = new HashMap<>();
    private final Map<String, TreeMap<Long, List<TreeEvent>>> events = new HashMap<>();
    private final Map<Long, Session> sessions = new HashMap<>();
    private final Map<String, Long> appliedTags = new HashMap<>();
    private final Set<String> refusedTags = new HashSet<>();
    private final Map<Long, String> lastTags = new HashMap<>();
    private final Map<Long, Long> digests = new HashMap<>();
    private final Map<Long, Integer> leaders = new HashMap<>();
    final Lifetimes lifetimes;
    private long lastIndex;

    Truth(Simulation world) {
        this.world = world;
        this.lifetimes = new Lifetimes(world.trace);
        replica.begin(new UUID(7, 7));
        states.put(0L, replica.state());
        replica.tell(List.of(new io.conclave.replica.StepListener() {
            @Override
            public void began(TreeState state) {}

            @Override
            public void applied(List<Step> applied) {
                applied.forEach(Truth.this::stepped);
            }
        }));
    }

    private void require(boolean condition, Supplier<String> message) {
        if (!condition) {
            throw new Violation(message.get());
        }
    }

    // ---- what the members do

    /** The machine of a member, watched. */
    StateMachine observed(ServerMachine machine, Replica of) {
        return new StateMachine() {
            @Override
            public void begin(UUID clusterId) {
                of.begin(clusterId);
            }

            @Override
            public void apply(CommittedBatch original) {
                CommittedBatch batch = world.mistake().batch(original, of.state());
                lifetimes.timeIs(original.timestampMs());
                committed(machine.id, batch);
                of.apply(machine.misapplying(batch));
                appliedBy(machine.id, of, batch);
            }

            @Override
            public StateSnapshot snapshot() {
                world.trace.count("snapshots begun");
                return of.snapshot();
            }

            @Override
            public void drop() {
                world.trace.fault(
                        of.isReading() ? "state overtaken while it is read" : "state dropped",
                        machine.id,
                        of.state().lastZxid());
                of.drop();
            }

            @Override
            public Runnable read(InputStream snapshot) throws IOException {
                Runnable swap = of.read(snapshot);
                return () -> {
                    swap.run();
                    world.trace.fault("snapshot read", machine.id, of.state().lastZxid());
                    if (!machine.isWrong()) {
                        compareReceived(machine, of.state());
                    }
                };
            }
        };
    }

    private void committed(int member, CommittedBatch batch) {
        int hash = 1;
        for (CommittedEntry entry : batch.entries()) {
            hash = hash * 31 + entry.kind().code();
            hash = hash * 31 + Arrays.hashCode(entry.payload());
        }
        Batch seen = new Batch(batch.lastIndex(), batch.term(), batch.timestampMs(), hash);
        if (batch.firstIndex() > lastIndex) {
            batches.put(batch.firstIndex(), seen);
            lastIndex = batch.lastIndex();
            world.trace.event(
                    "commit", member, batch.lastIndex(), batch.entries().size());
            List<CommittedEntry> entries = new ArrayList<>();
            batch.entries().forEach(entry -> entries.add(new CommittedEntry(entry.kind(), entry.payload(), null)));
            replica.apply(new CommittedBatch(
                    batch.term(), batch.firstIndex(), batch.lastIndex(), batch.timestampMs(), entries));
        } else {
            Batch first = batches.get(batch.firstIndex());
            require(
                    seen.equals(first),
                    () -> "server " + member + " applies " + seen + " at " + batch.firstIndex() + ", but committed is "
                            + first);
        }
    }

    private void appliedBy(int member, Replica of, CommittedBatch batch) {
        if (batch.firstIndex() % DIGEST_EVERY == 0
                && !world.machines.get(member).isWrong()) {
            compare(member, of.state());
        }
    }

    /**
     * A member whose state is wrong may send it to others, as a snapshot, before anybody finds out: they have it then.
     */
    private void compareReceived(ServerMachine machine, TreeState state) {
        boolean anyWrong = world.machines.values().stream().anyMatch(ServerMachine::isWrong);
        if (anyWrong && state.digest() != stateAt(state.lastZxid()).digest()) {
            machine.hasReceivedWrongState();
        } else {
            compare(machine.id, state);
        }
    }

    /** Compares a member's state with what it has to be. */
    void compare(int member, TreeState state) {
        TreeState expected = states.get(state.lastZxid());
        require(expected != null, () -> "server " + member + " has a state that was never committed: " + state);
        long digest = digests.computeIfAbsent(state.lastZxid(), zxid -> expected.digest());
        require(
                state.digest() == digest && state.hasRightDigest(),
                () -> "server " + member + " has another state than it ought to: " + state + ", expected " + expected);
    }

    LogListener observed(ServerMachine machine, ReplicatedLog log, LogListener of) {
        return new LogListener() {
            private long servingChangedUs;
            private int servingChanges;

            @Override
            public void leading(long term) {
                world.trace.event("leads", machine.id, term, "");
                if (world.machines.values().stream().anyMatch(ServerMachine::isReading)) {
                    world.trace.count("elections while a state is read");
                }
                world.trace.count("elections");
                Integer other = leaders.putIfAbsent(term, machine.id);
                require(
                        other == null || other == machine.id,
                        () -> "servers " + other + " and " + machine.id + " lead in term " + term);
                of.leading(term);
            }

            @Override
            public void deposed() {
                world.trace.event("deposed", machine.id, 0, "");
                of.deposed();
            }

            @Override
            public boolean noted(int member, byte[] note) {
                return of.noted(member, note);
            }

            @Override
            public void told(int member, byte[] note) {
                of.told(member, note);
            }

            @Override
            public void serving(boolean serving) {
                world.trace.event("serving", machine.id, serving ? 1 : 0, "");
                checkThatTimePasses();
                of.serving(serving);
            }

            /**
             * A turn that goes round and round would never end by itself, and fills the memory with what it tells
             * others to do.
             */
            private void checkThatTimePasses() {
                servingChanges = servingChangedUs == world.time.nowUs() ? servingChanges + 1 : 1;
                servingChangedUs = world.time.nowUs();
                require(
                        servingChanges < MAX_SERVING_CHANGES,
                        () -> "server " + machine.id + " serves and does not serve, " + servingChanges
                                + " times in one moment");
            }

            @Override
            public void configured(ClusterConfiguration configuration) {
                world.trace.event(
                        "configured", machine.id, configuration.voters().hashCode(), configuration.voters());
                of.configured(configuration);
            }
        };
    }

    // ---- what is committed

    private void stepped(Step step) {
        long zxid = step.applied().zxid();
        TreeState state = step.applied().state();
        states.put(zxid, state);
        steps.put(zxid, step);
        for (TreeEvent event : step.applied().events()) {
            events.computeIfAbsent(event.path(), path -> new TreeMap<>())
                    .computeIfAbsent(zxid, key -> new ArrayList<>(1))
                    .add(event);
        }
        Result result = step.applied().result();
        if (result instanceof Result.SessionAttached attached) {
            SessionRecord record = attached.session();
            Session session = sessions.computeIfAbsent(record.id(), id -> new Session(id, record.timeoutMs()));
            require(!session.closed, () -> "session " + Long.toHexString(record.id()) + " lives again");
            session.attachment = record.attachment();
        } else if (result instanceof Result.SessionClosed closed) {
            ended(state, closed);
        }
        if (step.change() instanceof Change.Request request) {
            checkRequest(zxid, request, result);
        }
        lifetimes.stepped(step);
    }

    private void ended(TreeState state, Result.SessionClosed closed) {
        Session session = sessions.get(closed.sessionId());
        require(
                session != null && !session.closed,
                () -> "session " + Long.toHexString(closed.sessionId()) + " ends twice");
        session.closed = true;
        session.closedAtUs = world.time.nowUs();
        world.trace.event("session ends", 0, closed.sessionId(), closed.reason());
        if (closed.reason() != Change.CloseReason.CLIENT) {
            session.expired = true;
            world.trace.count("sessions expired");
            checkNotTooEarly(session);
        }
        checkEphemerals(state);
    }

    /** Ephemeral nodes are there exactly as long as their session. */
    private void checkEphemerals(TreeState state) {
        long[] count = {0};
        state.sessions().forEach((id, record) -> count[0] += record.ephemerals().size());
        require(
                count[0] == state.ephemeralCount(),
                () -> state.ephemeralCount() + " ephemeral nodes, but " + count[0] + " of living sessions");
    }

    void checkNotTooEarly(Session session) {
        if (session.expired) {
            require(
                    session.closedAtUs >= session.safeUntilUs(),
                    () -> "session " + Long.toHexString(session.id) + " was expired at " + session.closedAtUs
                            + " us, and its client could count on it until " + session.safeUntilUs());
        }
    }

    /** A request is applied once, behind what its session asked for before, and under its present attachment. */
    private void checkRequest(long zxid, Change.Request request, Result result) {
        boolean ofSession = result instanceof Result.Failed failed
                && (failed.error() == TreeError.SESSION_MOVED || failed.error() == TreeError.SESSION_EXPIRED);
        String tag = Tags.of(request.operation());
        if (!tag.isEmpty()) {
            Long before = appliedTags.put(tag, zxid);
            require(!refusedTags.contains(tag), () -> "request " + tag + " was refused, and is applied");
            require(
                    before == null,
                    () -> "request " + tag + " is applied at 0x" + Long.toHexString(zxid) + " and at 0x"
                            + (before == null ? "" : Long.toHexString(before)));
        }
        if (ofSession) {
            return;
        }
        Session session = sessions.get(request.sessionId());
        require(
                session != null && !session.closed,
                () -> "a request of a session that is not there is applied: " + request);
        if (!tag.isEmpty()) {
            String last = lastTags.put(request.sessionId(), tag);
            require(
                    last == null || Tags.isBehind(tag, last),
                    () -> "request " + tag + " is applied behind " + last + " of the same session");
        }
    }

    /** A client learned that its request, if it has a name, is not carried out. */
    void refused(String tag) {
        require(
                !appliedTags.containsKey(tag),
                () -> "request " + tag + " is applied, and its client is told that it is not");
        refusedTags.add(tag);
    }

    // ---- what can be asked

    long lastZxid() {
        return replica.state().lastZxid();
    }

    TreeState state() {
        return replica.state();
    }

    long lastIndex() {
        return lastIndex;
    }

    /** The state right after a change. */
    TreeState stateAt(long zxid) {
        TreeState state = states.get(zxid);
        require(state != null, () -> "zxid 0x" + Long.toHexString(zxid) + " is shown, and was never committed");
        return state;
    }

    Step stepAt(long zxid) {
        Step step = steps.get(zxid);
        require(step != null, () -> "zxid 0x" + Long.toHexString(zxid) + " is told, and was never committed");
        return step;
    }

    Session session(long id) {
        return sessions.get(id);
    }

    /** The first event on a path behind a change that a watch of data or of children hears. */
    TreeEvent firstEvent(String path, boolean ofChildren, long afterZxid) {
        TreeMap<Long, List<TreeEvent>> ofPath = events.get(path);
        if (ofPath == null) {
            return null;
        }
        for (List<TreeEvent> atOnce : ofPath.tailMap(afterZxid, false).values()) {
            for (TreeEvent event : atOnce) {
                boolean matches = event.type() == TreeEvent.Type.DELETED
                        || ofChildren == (event.type() == TreeEvent.Type.CHILDREN_CHANGED);
                if (matches) {
                    return event;
                }
            }
        }
        return null;
    }

    /** Names requests in what they write. */
    static final class Tags {
        private Tags() {}

        static String tag(int client, int session, int attachment, int number) {
            return "c" + client + "." + session + "." + attachment + "." + number + "#";
        }

        static String of(TreeOperation operation) {
            if (operation instanceof TreeOperation.SetData set && set.data() != null) {
                return of(set.data());
            }
            if (operation instanceof TreeOperation.Create create && create.data() != null) {
                return of(create.data());
            }
            if (operation instanceof TreeOperation.Multi multi) {
                for (TreeOperation part : multi.parts()) {
                    String tag = of(part);
                    if (!tag.isEmpty()) {
                        return tag;
                    }
                }
            }
            return "";
        }

        static String of(byte[] data) {
            String text = new String(data, java.nio.charset.StandardCharsets.ISO_8859_1);
            int end = text.indexOf('#');
            return text.startsWith("c") && end > 0 ? text.substring(0, end + 1) : "";
        }

        static boolean isBehind(String tag, String other) {
            String[] parts = tag.substring(1, tag.length() - 1).split("\\.");
            String[] others = other.substring(1, other.length() - 1).split("\\.");
            for (int i = 1; i < parts.length; i++) {
                int difference = Integer.parseInt(parts[i]) - Integer.parseInt(others[i]);
                if (difference != 0) {
                    return difference > 0;
                }
            }
            return false;
        }
    }
}
