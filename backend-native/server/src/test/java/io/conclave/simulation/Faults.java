package io.conclave.simulation;

import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.simulation.VirtualTime;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** Everything that goes wrong while it may. */
final class Faults {
    /** By then a change of the members is made or refused. */
    private static final long SETTLED_US = 3_000_000;

    private static final long PUT_BACK_US = 1_000_000;

    /** How long a fault waits for the others to be over. */
    private static final long PATIENCE_US = 4_000_000;

    private final Simulation world;
    private final VirtualTime time;
    private final Random random;
    private final Map<Integer, Integer> syncUs = new HashMap<>();
    private final int meanGapUs;

    /** The one machine whose disk may lose what it had promised to keep: with two of them, data may go for good. */
    private final int victim;

    /** Whether that happens in this run. */
    private final boolean damages;

    private final LinkFaults links;
    private final Edges edges;
    private final LivingMajority majority;

    /** Nobody starts these. */
    private final Set<Integer> keptDown = new HashSet<>();

    /** Whether one member applies one change wrongly, at a moment when nothing else is amiss with the members. */
    private boolean misapplies;

    private int stalled;
    private long stallUs;
    private boolean running;

    /** Until then nothing goes wrong. */
    private long calmUntilUs;

    /** The member that came back without its log last; 0 for none. */
    private int lost;

    private long changedUs;
    private long putBackUs;

    /**
     * Whether a member comes back without its log in this run, which it is to do while all vote: no member is removed.
     */
    private final boolean oneLosesItsLog;

    Faults(Simulation world, Random random, Random edges, Random majorities) {
        this.world = world;
        this.time = world.time;
        this.random = random;
        this.links = new LinkFaults(world, random);
        this.victim = links.anyServer();
        this.damages = random.nextInt(3) == 0;
        this.misapplies = !damages && world.mistake().misapplies(random);
        this.oneLosesItsLog = damages || misapplies;
        this.meanGapUs = 50_000 + random.nextInt(400_000);
        this.majority = new LivingMajority(world, this, majorities);
        this.edges = new Edges(world, this, edges, new Random(majorities.nextLong()), majority, damages);
    }

    private ServerMachine any() {
        return world.machines.get(links.anyServer());
    }

    /** The leader more often than others. */
    private ServerMachine preferred() {
        ServerMachine leader = world.leader();
        return leader != null && random.nextInt(3) == 0 ? leader : any();
    }

    long diskDelayUs(int server) {
        if (stalled == server) {
            stalled = 0;
            return stallUs;
        }
        int most = syncUs.getOrDefault(server, 400);
        return 50 + random.nextInt(most);
    }

    void begin() {
        running = true;
        next();
        if (misapplies) {
            time.after(random.nextInt(3_000_000), this::misapplyOnce);
        }
    }

    /** Tries until it may be. */
    private void misapplyOnce() {
        whenOneMayLoseItsLog(() -> {
            misapplies = false;
            world.machines.values().forEach(Faults::disarm);
            preferred().misapply();
        });
        if (misapplies && running) {
            time.after(PATIENCE_US + 1, this::misapplyOnce);
        }
    }

    private void next() {
        if (running) {
            time.after(random.nextInt(2 * meanGapUs), () -> {
                if (running && !isCalm()) {
                    strike();
                }
                next();
            });
        }
    }

    /** From now on everything works; what is broken is repaired. */
    void end() {
        running = false;
        repair();
        world.machines.values().forEach(ServerMachine::misapplyNoMore);
    }

    /** Has a machine running, whatever it takes. */
    void bringUp(int id) {
        if (keptDown.contains(id)) {
            return;
        }
        ServerMachine machine = world.machines.get(id);
        if (machine.isStopped()) {
            machine.wipe();
        }
        world.start(id);
    }

    void keepDown(ServerMachine machine) {
        keptDown.add(machine.id);
    }

    void mayRun(ServerMachine machine) {
        keptDown.remove(machine.id);
    }

    void allMayRun() {
        List<Integer> down = List.copyOf(keptDown);
        keptDown.clear();
        down.forEach(this::bringUp);
    }

    /** Whether something was begun that has to be decided before the trouble may be over. */
    boolean isUndecided() {
        return majority.isUndecided();
    }

    boolean tearsWrites() {
        return majority.tears();
    }

    /** Repairs links and disks; whether no process stands still. */
    boolean everythingElseWorks() {
        repair();
        return world.machines.values().stream().noneMatch(ServerMachine::standsStill);
    }

    /** Links, clocks and disks work. */
    private void repair() {
        links.heal();
        syncUs.clear();
        stalled = 0;
        for (ServerMachine machine : world.machines.values()) {
            machine.disk().capacity(Long.MAX_VALUE);
            disarm(machine);
        }
    }

    boolean isRunning() {
        return running;
    }

    private void putBack() {
        ServerMachine leader = world.leader();
        if (leader != null && time.nowUs() > putBackUs + PUT_BACK_US) {
            putBackUs = time.nowUs();
            world.missing(leader).forEach(member -> leader.log().change(new MembershipChange.Put(member)));
        }
    }

    long snapshotCheckEveryMs() {
        return edges.snapshotCheckEveryMs();
    }

    // ---- what may go wrong together

    /**
     * Whether a write may be torn, or a member removed. Neither while a member is without its log, or may have to put
     * it away: members that had to cut their logs give provisional votes only, and if all are asked for and one has
     * lost everything, there is no leader any more, as documented. And of two voters both are needed.
     */
    boolean mayTear() {
        return (lost == 0 || world.isBack(lost))
                && !world.hasWrongStateSpread()
                && world.machines.values().stream().noneMatch(ServerMachine::mayBeWrong);
    }

    /**
     * Whether a member may lose its log: all are voters and run, none has to set its log aside, none gives provisional
     * votes, and no change of the members is under way. Links may be cut, and members may be behind: the others elect
     * one that has everything. A member that does not run may have a torn tail that is not known yet.
     */
    boolean mayLoseLog() {
        return world.allVote() && world.allRun() && world.isWithoutTornLogs() && mayTear() && hasNoChange();
    }

    /**
     * Lets nothing else go wrong for a moment, repairs what is broken, and does it if a member may lose its log soon.
     */
    void whenOneMayLoseItsLog(Runnable action) {
        if (!isCalm()) {
            calmFor(PATIENCE_US);
            whenOneMayLoseItsLog(action, calmUntilUs);
        }
    }

    /** For so long nothing goes wrong, or until this is called again. */
    void calmFor(long durationUs) {
        calmUntilUs = time.nowUs() + durationUs;
    }

    private boolean isCalm() {
        return time.nowUs() < calmUntilUs;
    }

    private void whenOneMayLoseItsLog(Runnable action, long untilUs) {
        if (running && !mayLoseLog() && time.nowUs() < untilUs) {
            links.heal();
            putBack();
            world.machines.keySet().forEach(this::bringUp);
            time.after(20_000, () -> whenOneMayLoseItsLog(action, untilUs));
            return;
        }
        calmFor(0);
        if (running && mayLoseLog()) {
            action.run();
        }
    }

    private boolean hasNoChange() {
        return time.nowUs() > changedUs + SETTLED_US;
    }

    /** From now on no write is torn. */
    void losesItsLog(int id) {
        lost = id;
        edges.losesItsLog(id);
        world.machines.values().forEach(Faults::disarm);
    }

    private static void disarm(ServerMachine machine) {
        machine.disk().failAfter(-1);
        machine.disk().failSyncAfter(-1, "");
    }

    /** Asks the leader to take a vote. */
    CompletionStage<Void> takeVote(ServerMachine leader, MembershipChange change) {
        changedUs = time.nowUs();
        return leader.log().change(change);
    }

    private void strike() {
        if (edges.areActive()) {
            putBack();
        }
        edges.strike();
        if (isUndecided()) {
            return;
        }
        switch (random.nextInt(27)) {
            case 0, 1, 2 -> crash(preferred());
            case 3 -> kill(preferred());
            case 4 -> close(preferred());
            case 5, 6 -> pause(preferred());
            case 7, 8 -> links.isolate(preferred());
            case 9, 10 -> links.cutOneWay();
            case 11 -> links.split();
            case 12 -> links.slowNetwork();
            case 13 -> slowDisk(any());
            case 14 -> stall(preferred());
            case 15 -> fullDisk(any());
            case 16 -> {
                if (damages && !world.machines.get(victim).isDamaged()) {
                    whenOneMayLoseItsLog(this::damage);
                }
            }
            case 17 -> clocks(preferred());
            case 18 -> transfer();
            case 19 -> change();
            case 20, 21 -> links.breakConnections();
            case 22 -> links.cutClient();
            case 23 -> allLosePower();
            default -> {
                world.trace.event("heal", 0, 0, "");
                links.heal();
            }
        }
    }

    // ---- processes and machines

    void restartLater(ServerMachine machine) {
        time.after(10_000 + random.nextInt(random.nextInt(4) == 0 ? 5_000_000 : 500_000), () -> bringUp(machine.id));
    }

    private void crash(ServerMachine machine) {
        if (!machine.isAlive()) {
            return;
        }
        if (!mayTear() || random.nextBoolean()) {
            world.trace.fault("power lost", machine.id, 0);
            machine.losePower();
            restartLater(machine);
        } else {
            world.trace.fault("power lost in an operation of the disk", machine.id, 0);
            machine.disk().failAfter(1 + random.nextInt(30));
            time.after(random.nextInt(2_000_000), () -> bringUp(machine.id));
        }
    }

    private void allLosePower() {
        world.trace.fault("all lose power", 0, 0);
        for (ServerMachine machine : world.machines.values()) {
            if (machine.isAlive()) {
                machine.losePower();
            }
            restartLater(machine);
        }
    }

    private void kill(ServerMachine machine) {
        if (machine.isAlive()) {
            world.trace.fault("process killed", machine.id, 0);
            machine.kill();
            restartLater(machine);
        }
    }

    private void close(ServerMachine machine) {
        if (machine.isAlive() && !machine.isClosing()) {
            world.trace.fault("server closed", machine.id, 0);
            machine.close();
            int id = machine.id;
            time.after(100_000 + random.nextInt(3_000_000), () -> bringUp(id));
        }
    }

    private void pause(ServerMachine machine) {
        if (machine.isAlive()) {
            world.trace.fault("process paused", machine.id, 0);
            machine.pause(random.nextInt(random.nextInt(3) == 0 ? 6_000_000 : 1_500_000));
        }
    }

    private void clocks(ServerMachine machine) {
        if (random.nextBoolean()) {
            world.trace.fault("clock drifts", machine.id, 0);
            machine.clock().rate(1 + (random.nextDouble() * 2 - 1) * MachineClock.MAX_DRIFT);
        } else {
            world.trace.fault("wall clock jumps", machine.id, 0);
            machine.clock().jump(random.nextInt(20_000) - 10_000);
        }
    }

    // ---- disks

    private void slowDisk(ServerMachine machine) {
        world.trace.fault("disk slow", machine.id, 0);
        syncUs.put(machine.id, 1_000 << random.nextInt(8));
        time.after(random.nextInt(3_000_000), () -> syncUs.remove(machine.id));
    }

    private void stall(ServerMachine machine) {
        world.trace.fault("disk stalls", machine.id, 0);
        stalled = machine.id;
        stallUs = 100_000 + random.nextInt(5_000_000);
    }

    private void fullDisk(ServerMachine machine) {
        world.trace.fault("disk full", machine.id, 0);
        edges.spare(machine);
        machine.disk().capacity(machine.disk().used() + random.nextInt(80_000));
        time.after(random.nextInt(4_000_000), () -> machine.disk().capacity(Long.MAX_VALUE));
    }

    private void damage() {
        ServerMachine machine = world.machines.get(victim);
        if (machine.isDamaged()) {
            return;
        }
        losesItsLog(victim);
        machine.losePower();
        machine.damaged();
        if (random.nextBoolean()) {
            world.trace.fault("directory wiped", machine.id, 0);
            machine.wipe();
        } else {
            rot(machine);
        }
        restartLater(machine);
    }

    private void rot(ServerMachine machine) {
        List<String> files = machine.disk().list();
        String file = files.get(random.nextInt(files.size()));
        int length = machine.disk().bytes(file).length;
        if (length > 0) {
            world.trace.fault("bit rot", machine.id, 0);
            int within = random.nextBoolean() ? length : Math.min(length, 4096);
            machine.disk().flipBit(file, random.nextInt(within));
        }
    }

    // ---- the cluster

    private void transfer() {
        ServerMachine leader = world.leader();
        if (leader != null) {
            world.trace.fault("leadership transferred", leader.id, 0);
            leader.log().transferLeadership(random.nextBoolean() ? 0 : links.anyServer());
        }
    }

    private void change() {
        ServerMachine leader = world.leader();
        if (leader == null || oneLosesItsLog || !mayTear()) {
            return;
        }
        int id = links.anyServer();
        if (leader.log().status().configuration().members().containsKey(id)) {
            world.trace.fault("member removed", id, 0);
            takeVote(leader, new MembershipChange.Remove(id));
        } else {
            world.trace.fault("member put back", id, 0);
            leader.log().change(new MembershipChange.Put(world.listed().get(id)));
        }
    }
}
