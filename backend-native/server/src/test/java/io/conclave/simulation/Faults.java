package io.conclave.simulation;

import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.simulation.VirtualTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Everything that goes wrong while it may. */
final class Faults {
    private static final int USUAL_NETWORK_US = 300;

    private final Simulation world;
    private final VirtualTime time;
    private final Random random;
    private final Map<Integer, Integer> syncUs = new HashMap<>();
    private final int meanGapUs;

    /** The one machine whose disk may lose what it had promised to keep: with two of them, data may go for good. */
    private final int victim;

    /** Whether that happens in this run. */
    private final boolean damages;

    /**
     * Whether one member comes back without its log in this run: its disk was damaged, or it put its log away because its
     * state is wrong. If so, no write is torn: members that had to cut their logs give weak votes only, and if all are
     * asked for and one has lost everything, there is no leader any more, as documented. And nobody is removed, and all
     * vote, for the same reason: of two voters both are needed.
     */
    private final boolean oneLosesItsLog;

    /** Whether one member applies one change wrongly, at a moment when nothing else is amiss with the members. */
    private boolean misapplies;

    private int stalled;
    private long stallUs;
    private boolean running;

    Faults(Simulation world, Random random) {
        this.world = world;
        this.time = world.time;
        this.random = random;
        this.victim = anyId();
        this.damages = random.nextInt(3) == 0;
        this.misapplies = !damages && world.mistake().misapplies(random);
        this.oneLosesItsLog = damages || misapplies;
        this.meanGapUs = 50_000 + random.nextInt(400_000);
    }

    private int anyId() {
        List<Integer> ids = new ArrayList<>(world.machines.keySet());
        return ids.get(random.nextInt(ids.size()));
    }

    private ServerMachine any() {
        return world.machines.get(anyId());
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
    }

    private void next() {
        if (running) {
            time.after(random.nextInt(2 * meanGapUs), () -> {
                if (running) {
                    strike();
                    next();
                }
            });
        }
    }

    /** From now on everything works; what is broken is repaired. */
    void end() {
        running = false;
        heal();
        syncUs.clear();
        stalled = 0;
        for (ServerMachine machine : world.machines.values()) {
            machine.disk().capacity(Long.MAX_VALUE);
            machine.disk().failAfter(-1);
            machine.misapplyNoMore();
        }
    }

    /** Has a machine running, whatever it takes. */
    void bringUp(int id) {
        ServerMachine machine = world.machines.get(id);
        if (machine.isStopped()) {
            machine.wipe();
        }
        world.start(id);
    }

    private void heal() {
        world.network.heal();
        world.network.delayUs(USUAL_NETWORK_US);
        world.clients.heal();
        world.clients.usualDelayUs(USUAL_NETWORK_US);
    }

    private void strike() {
        if (misapplies && world.allVote() && world.allServe()) {
            misapplies = false;
            preferred().misapply();
        }
        switch (random.nextInt(27)) {
            case 0, 1, 2 -> crash(preferred());
            case 3 -> kill(preferred());
            case 4 -> close(preferred());
            case 5, 6 -> pause(preferred());
            case 7, 8 -> isolate(preferred());
            case 9, 10 -> cutOneWay();
            case 11 -> split();
            case 12 -> slowNetwork();
            case 13 -> slowDisk(any());
            case 14 -> stall(preferred());
            case 15 -> fullDisk(any());
            case 16 -> damage();
            case 17 -> clocks(preferred());
            case 18 -> transfer();
            case 19 -> change();
            case 20, 21 -> breakConnections();
            case 22 -> cutClient();
            case 23 -> allLosePower();
            default -> {
                world.trace.event("heal", 0, 0, "");
                heal();
            }
        }
    }

    // ---- processes and machines

    private void restartLater(ServerMachine machine) {
        time.after(10_000 + random.nextInt(random.nextInt(4) == 0 ? 5_000_000 : 500_000), () -> bringUp(machine.id));
    }

    private void crash(ServerMachine machine) {
        if (!machine.isAlive()) {
            return;
        }
        if (oneLosesItsLog || random.nextBoolean()) {
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
        machine.disk().capacity(machine.disk().used() + random.nextInt(80_000));
        time.after(random.nextInt(4_000_000), () -> machine.disk().capacity(Long.MAX_VALUE));
    }

    private void damage() {
        ServerMachine machine = world.machines.get(victim);
        if (!damages || machine.isDamaged() || !world.allVote()) {
            return;
        }
        if (machine.isAlive()) {
            machine.losePower();
        }
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

    // ---- links

    private void isolate(ServerMachine machine) {
        world.trace.fault("server cut off from the others", machine.id, 0);
        world.network.isolate(machine.id);
        if (random.nextInt(3) == 0) {
            world.users().forEach(user -> cut(user.id, machine.id));
        }
    }

    private void cutOneWay() {
        int from = anyId();
        int to = anyId();
        if (from != to) {
            world.trace.fault("link cut one way", from, to);
            world.network.cut(from, to);
        }
    }

    private void split() {
        world.trace.fault("servers split in two", 0, 0);
        for (int from : world.machines.keySet()) {
            boolean left = random.nextBoolean();
            for (int to : world.machines.keySet()) {
                if (from < to && left) {
                    world.network.cut(from, to);
                    world.network.cut(to, from);
                }
            }
        }
    }

    private void slowNetwork() {
        world.trace.fault("network slow", 0, 0);
        world.network.delayUs(1_000 << random.nextInt(8));
        world.clients.usualDelayUs(1_000 << random.nextInt(8));
    }

    private void cut(int client, int server) {
        boolean both = random.nextBoolean();
        boolean there = random.nextBoolean();
        if (both || there) {
            world.clients.cut(client, server, true);
        }
        if (both || !there) {
            world.clients.cut(client, server, false);
        }
    }

    private SimulatedClient anyUser() {
        return world.users().get(random.nextInt(world.users().size()));
    }

    private void cutClient() {
        world.trace.fault("client cut off", 0, 0);
        SimulatedClient user = anyUser();
        boolean all = random.nextBoolean();
        for (int server : world.machines.keySet()) {
            if (all || random.nextBoolean()) {
                cut(user.id, server);
            }
        }
    }

    private void breakConnections() {
        world.trace.fault("connection of a client broken", 0, 0);
        if (random.nextBoolean()) {
            world.clients.breakOne();
        } else {
            anyUser().disconnect();
        }
    }

    // ---- the cluster

    private void transfer() {
        ServerMachine leader = world.leader();
        if (leader != null) {
            world.trace.fault("leadership handed over", leader.id, 0);
            leader.log().transferLeadership(random.nextBoolean() ? 0 : anyId());
        }
    }

    private void change() {
        ServerMachine leader = world.leader();
        if (leader == null || oneLosesItsLog) {
            return;
        }
        int id = anyId();
        if (leader.log().status().configuration().members().containsKey(id)) {
            world.trace.fault("member removed", id, 0);
            leader.log().change(new MembershipChange.Remove(id));
        } else {
            world.trace.fault("member put back", id, 0);
            leader.log().change(new MembershipChange.Put(world.listed().get(id)));
        }
    }
}
