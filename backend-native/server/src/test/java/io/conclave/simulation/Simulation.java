package io.conclave.simulation;

import io.conclave.connection.ServiceMode;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.simulation.SimulatedNetwork;
import io.conclave.consensus.simulation.VirtualTime;
import io.conclave.consensus.simulation.VoteBytes;
import io.conclave.tree.SessionRecord;
import io.conclave.tree.TreeState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/** One run: servers and clients, a time of trouble, and a time in which everything must come good. */
final class Simulation {
    static final long SECOND_US = 1_000_000;

    final VirtualTime time = new VirtualTime();
    final Trace trace;
    final Truth truth;
    final ClientNetwork clients;
    final SimulatedNetwork network;
    final Map<Integer, ServerMachine> machines = new TreeMap<>();
    private final Map<Integer, EnsembleMember> listed = new TreeMap<>();
    private final List<SimulatedClient> users = new ArrayList<>();
    private final List<Workload> workloads = new ArrayList<>();
    private final Random random;
    private final long seed;
    private final Mistake mistake;
    private final Faults faults;
    private final int snapshotEvery;

    /** Whether the wall clocks are minutes apart: the log's time then stands still when leaders change. */
    private final boolean clocksDiffer;

    private long seenZxid;
    private long lastToken;
    private Violation violation;
    private boolean settling;
    private boolean wrongStateHasSpread;
    private long putBackUs;

    private Simulation(long seed, Mistake mistake, boolean printing) {
        this.seed = seed;
        this.mistake = mistake;
        this.trace = new Trace(time, printing);
        this.random = new Random(seed * 0x9e3779b97f4a7c15L);
        this.truth = new Truth(this);
        this.network = new SimulatedNetwork(time, new Random(random.nextLong()));
        this.clients = new ClientNetwork(time, new Random(random.nextLong()), machines, mistake);
        this.clocksDiffer = random.nextInt(3) == 0;
        this.snapshotEvery = 50 + random.nextInt(400);
        int voters = random.nextInt(4) == 0 ? 5 : 3;
        int observers = random.nextInt(5) == 0 ? 1 : 0;
        for (int id = 1; id <= voters + observers; id++) {
            listed.put(id, new EnsembleMember(id, 0, "host-" + id, 1, "", 0, id > voters));
        }
        for (int id : listed.keySet()) {
            machines.put(id, new ServerMachine(id, this, network, random));
        }
        int userCount = 3 + random.nextInt(4);
        for (int id = 1; id <= userCount; id++) {
            SimulatedClient user = new SimulatedClient(id, this, random);
            users.add(user);
            workloads.add(new Workload(user, this));
        }
        this.faults = new Faults(
                this,
                new Random(random.nextLong()),
                new Random(seed * 0x2545f4914f6cdd1dL),
                new Random(seed * 0x5851f42d4c957f2dL));
    }

    /** The outcome of a run. */
    record Outcome(long seed, Violation violation, Trace trace, long virtualMs, long commits, int answers) {
        boolean isClean() {
            return violation == null;
        }

        /** Seed, what happened, and the last events. */
        String report() {
            return "seed " + seed + " at " + virtualMs + " ms: "
                    + (violation == null ? "clean" : violation.getMessage()) + "\n" + trace;
        }
    }

    /** Runs a seed to its end, or to the first violation. */
    static Outcome run(long seed, Mistake mistake) {
        return run(seed, mistake, false);
    }

    static Outcome run(long seed, Mistake mistake, boolean printing) {
        Simulation simulation = new Simulation(seed, mistake, printing);
        try {
            simulation.live();
        } catch (Violation e) {
            simulation.violation = e;
        } catch (RuntimeException | Error e) {
            simulation.violation = new Violation("the simulation broke: " + e, e);
        }
        return new Outcome(
                seed,
                simulation.violation,
                simulation.trace,
                simulation.time.nowMs(),
                simulation.truth.lastZxid() & 0xffffffffL,
                simulation.users.stream().mapToInt(SimulatedClient::answers).sum());
    }

    // ---- what the parts ask for

    Mistake mistake() {
        return mistake;
    }

    int snapshotEveryEntries() {
        return snapshotEvery;
    }

    boolean clocksDiffer() {
        return clocksDiffer;
    }

    long snapshotCheckEveryMs() {
        return faults.snapshotCheckEveryMs();
    }

    int segmentBytes() {
        return 64 * 1024;
    }

    /** Whether clients write much at a time, so that a write can be torn. */
    boolean writesAreLarge() {
        return faults.tearsWrites();
    }

    long diskDelayUs(int server) {
        return faults.diskDelayUs(server);
    }

    int serverForClient(Random chooser) {
        List<Integer> ids = new ArrayList<>(machines.keySet());
        return ids.get(chooser.nextInt(ids.size()));
    }

    List<SimulatedClient> users() {
        return users;
    }

    Map<Integer, EnsembleMember> listed() {
        return listed;
    }

    /** The newest change that any client has been shown. */
    long seenZxid() {
        return seenZxid;
    }

    void seen(long zxid) {
        seenZxid = Math.max(seenZxid, zxid);
    }

    /** A violation in a place from which it would not get through. */
    void violated(Violation found) {
        if (violation == null) {
            violation = found;
        }
    }

    /** A client has the lock from now on. */
    void granted(SimulatedClient to, long token) {
        trace.event("granted", to.id, token, "");
        trace.count("grants");
        for (SimulatedClient other : users) {
            if (other != to && other.lock.holds()) {
                throw new Violation(to + " is granted the lock that " + other + " holds");
            }
        }
        if (token <= lastToken) {
            throw new Violation(to + " is granted the lock with token 0x" + Long.toHexString(token) + " after 0x"
                    + Long.toHexString(lastToken));
        }
        lastToken = token;
    }

    void start(int id) {
        ServerMachine machine = machines.get(id);
        if (!machine.isAlive() && !machine.isStopped()) {
            machine.start(listed, false);
        }
    }

    /** Has a machine running, whatever it takes. */
    void bringUp(int id) {
        faults.bringUp(id);
    }

    /** A member comes back without its log. */
    void losesItsLog(int id) {
        faults.losesItsLog(id);
    }

    /** Whether the member is there, with the directory that the others know, and serves. */
    boolean isBack(int id) {
        ServerMachine leader = leader();
        ServerMachine machine = machines.get(id);
        if (leader == null || !machine.isAlive() || machine.isClosing()) {
            return false;
        }
        ClusterConfiguration configuration = leader.log().status().configuration();
        EnsembleMember known = configuration.members().get(id);
        return known != null
                && known.directory() == machine.directory()
                && (known.observer() || configuration.voters().contains(id))
                && machine.server().mode() == ServiceMode.FULL;
    }

    /** Whether every member's process runs. */
    boolean allRun() {
        return machines.values().stream().allMatch(machine -> machine.isAlive() && !machine.isClosing());
    }

    /** Whether no member gives provisional votes. */
    boolean isWithoutTornLogs() {
        return machines.values().stream().noneMatch(machine -> VoteBytes.isTorn(machine.disk()));
    }

    /** The members that are listed and not known to the leader, or known as what they are not. */
    List<EnsembleMember> missing(ServerMachine leader) {
        Map<Integer, EnsembleMember> members =
                leader.log().status().configuration().members();
        return listed.values().stream()
                .filter(member -> !members.containsKey(member.id())
                        || members.get(member.id()).observer() != member.observer())
                .toList();
    }

    /** The server that believes to lead in the newest term; null if there is none. */
    ServerMachine leader() {
        ServerMachine leader = null;
        long term = -1;
        for (ServerMachine machine : machines.values()) {
            if (machine.isAlive()) {
                LogStatus status = machine.log().status();
                if (status.role() == io.conclave.consensus.LogRole.LEADING && status.term() > term) {
                    leader = machine;
                    term = status.term();
                }
            }
        }
        return leader;
    }

    // ---- a run

    private void live() {
        for (ServerMachine machine : machines.values()) {
            machine.start(listed, machine.id == 1);
        }
        users.forEach(SimulatedClient::start);
        workloads.forEach(Workload::start);
        if (random.nextInt(4) != 0) {
            await("all vote at first", 30, this::allVote);
        }
        faults.begin();
        runFor((5 + random.nextInt(8)) * SECOND_US);
        while (faults.isUndecided()) {
            runFor(SECOND_US / 50);
        }
        faults.end();
        settle();
    }

    private void runFor(long durationUs) {
        long untilUs = time.nowUs() + durationUs;
        while (time.step(untilUs)) {
            stopIfViolated();
        }
        stopIfViolated();
    }

    private void stopIfViolated() {
        if (violation != null) {
            throw violation;
        }
    }

    private void await(String what, int seconds, BooleanSupplier condition) {
        long untilUs = time.nowUs() + seconds * SECOND_US;
        while (!condition.getAsBoolean()) {
            if (time.nowUs() >= untilUs) {
                throw new Violation("not within " + seconds + " s: " + what + describe());
            }
            runFor(20_000);
            repair();
        }
    }

    private String describe() {
        StringBuilder text = new StringBuilder();
        machines.forEach((id, machine) -> text.append("\n  ")
                .append(
                        machine.isAlive()
                                ? describe(machine.log().status()) + " serving "
                                        + machine.server().mode() + " "
                                        + machine.server().replica().state()
                                : "dead"));
        users.forEach(user -> text.append("\n  ").append(user).append(user.isAttached() ? " attached" : " away"));
        return text.append("\n  truth: ")
                .append(truth.state())
                .append("\n  what is deleted in time: ")
                .append(truth.lifetimes)
                .toString();
    }

    private static String describe(LogStatus status) {
        ClusterConfiguration configuration = status.configuration();
        return status.memberId() + " " + status.role() + " behind " + status.leader() + " in term " + status.term()
                + ", last " + status.lastIndex() + ", committed " + status.commitIndex() + ", applied "
                + status.appliedIndex() + ", voters " + configuration.voters() + " of "
                + configuration.members().keySet() + (configuration.isJoint() ? " joint" : "") + ", disk "
                + status.disk();
    }

    /** Whether the cluster is as it is listed. */
    boolean allVote() {
        ServerMachine leader = leader();
        if (leader == null) {
            return false;
        }
        ClusterConfiguration configuration = leader.log().status().configuration();
        Set<Integer> wanted = new TreeSet<>();
        for (EnsembleMember member : listed.values()) {
            if (!member.observer()) {
                wanted.add(member.id());
            }
        }
        return !configuration.isJoint()
                && configuration.voters().equals(wanted)
                && configuration.members().keySet().equals(listed.keySet());
    }

    /** Trouble is over: within bounded times, everything has to come good. */
    private void settle() {
        trace.event("settle", 0, 0, "");
        settling = true;
        await("all vote", 60, this::allVote);
        Map<Integer, Integer> before = new TreeMap<>();
        users.forEach(user -> before.put(user.id, user.answers()));
        await("every client is served", 20, () -> users.stream()
                .allMatch(user -> user.answers() > before.get(user.id) + 5));
        await(
                "a wrong state is found",
                30,
                () -> wrongStateHasSpread || machines.values().stream().noneMatch(this::differs));
        workloads.forEach(Workload::stop);
        for (SimulatedClient user : users) {
            if (user.id % 2 == 0) {
                user.die();
            }
        }
        await("sessions are those of living clients", 30, this::sessionsAreRight);
        await("what has outlived its time is deleted", 120, () -> truth.lifetimes.isNothingLeft(!clocksDiffer));
        runFor(SECOND_US);
        await(
                "all have applied everything",
                20,
                () -> allVote()
                        && machines.values().stream()
                                .allMatch(machine -> machine.isAlive()
                                        && machine.server().replica().state().lastZxid() == truth.lastZxid()));
        if (!wrongStateHasSpread) {
            for (ServerMachine machine : machines.values()) {
                truth.compare(machine.id, machine.server().replica().state());
            }
        }
    }

    /** Members cannot tell any more which state is right: their states are compared no longer in this run. */
    void wrongStateHasSpread() {
        trace.fault("wrong state spread", 0, 0);
        wrongStateHasSpread = true;
    }

    boolean hasWrongStateSpread() {
        return wrongStateHasSpread;
    }

    /** What an operator does while things are not as they should be. */
    private void repair() {
        machines.keySet().forEach(faults::bringUp);
        if (settling && time.nowUs() - putBackUs > SECOND_US && !allVote()) {
            putBackUs = time.nowUs();
            putBack();
        }
    }

    private void putBack() {
        ServerMachine leader = leader();
        if (leader == null) {
            return;
        }
        missing(leader).forEach(member -> leader.log().change(new MembershipChange.Put(member)));
    }

    private boolean differs(ServerMachine machine) {
        if (!machine.isWrong() || !machine.isAlive()) {
            return machine.isWrong();
        }
        TreeState state = machine.server().replica().state();
        return state.digest() != truth.stateAt(state.lastZxid()).digest();
    }

    private boolean sessionsAreRight() {
        Set<Long> wanted = new HashSet<>();
        for (SimulatedClient user : users) {
            if (!user.isDead()) {
                if (!user.isAttached()) {
                    return false;
                }
                wanted.add(user.sessionId());
            }
        }
        TreeState state = truth.state();
        Set<Long> present = new HashSet<>();
        for (Map.Entry<Long, SessionRecord> entry : state.sessions()) {
            present.add(entry.getKey());
        }
        return present.equals(wanted);
    }
}
