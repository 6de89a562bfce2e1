package io.conclave.simulation;

import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.simulation.JumpingTerms;
import io.conclave.consensus.simulation.SnapshotRot;
import io.conclave.consensus.simulation.VirtualTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * What goes wrong beyond what Raft assumes, in half of the runs: disks that are set back to an older state, snapshots
 * that rot, a torn tail while another server is down, syncs that fail and leave pages clean, an operator's mistakes,
 * terms that jump.
 */
final class Edges {
    private static final int CHECKED_OFTEN_MS = 2_000;
    private static final int CHECKED_SELDOM_MS = 3_600_000;

    private final Simulation world;
    private final Faults faults;
    private final VirtualTime time;
    private final Random random;
    private final boolean active;

    /** Not where bits of other files are flipped, too: those then may have nothing to stand in for them. */
    private final boolean rots;

    private final SnapshotRot rot;
    private final Random rotting;
    private final LivingMajority majority;

    /** Until then a member is kept from running. */
    private long busyUntilUs;

    /** By machine: what its disk held some time ago. */
    private final Map<Integer, Map<String, byte[]>> images = new TreeMap<>();

    Edges(Simulation world, Faults faults, Random random, Random rotting, LivingMajority majority, boolean damages) {
        this.world = world;
        this.faults = faults;
        this.time = world.time;
        this.random = random;
        this.rotting = rotting;
        this.majority = majority;
        this.active = random.nextBoolean();
        this.rots = active && !damages;
        this.rot = new SnapshotRot(random);
    }

    boolean areActive() {
        return active;
    }

    /** How often members check their snapshots. */
    long snapshotCheckEveryMs() {
        return rots && rot.isCheckedOften() ? CHECKED_OFTEN_MS : CHECKED_SELDOM_MS;
    }

    /** The machine's disk is about to be full, where one snapshot has to do. */
    void spare(ServerMachine machine) {
        rot.spare(machine.disk());
    }

    /** A member will need the leader's snapshot, which rots now. */
    void losesItsLog(int id) {
        ServerMachine leader = world.leader();
        if (rots && leader != null && leader.id != id && rot.strikeNow(leader.disk(), rotting)) {
            world.trace.fault("snapshot rots that another one needs", leader.id, id);
        }
    }

    private ServerMachine any() {
        List<ServerMachine> machines = new ArrayList<>(world.machines.values());
        return machines.get(random.nextInt(machines.size()));
    }

    void strike() {
        if (!active) {
            return;
        }
        ServerMachine machine = any();
        if (rots && rot.strike(machine.disk())) {
            world.trace.fault("snapshot rots", machine.id, 0);
        }
        switch (random.nextInt(16)) {
            case 0, 1, 8 -> takeImage(machine);
            case 2, 3 -> strikeTheWhole(machine);
            case 5, 6 -> failSync(machine);
            case 7 -> jump(machine);
            default -> {}
        }
    }

    /** With what a cluster stands only when all its members are there; one at a time. */
    private void strikeTheWhole(ServerMachine machine) {
        if (time.nowUs() < busyUntilUs) {
            return;
        }
        switch (random.nextInt(7)) {
            case 0, 1 -> {
                if (!images.isEmpty()) {
                    faults.whenOneMayLoseItsLog(this::goBack);
                }
            }
            case 2, 3 -> faults.whenOneMayLoseItsLog(() -> tearWhileAnotherIsDown(machine));
            default -> faults.whenOneMayLoseItsLog(() -> takeVoteWhileAnotherIsDown(machine));
        }
    }

    private void busyFor(int durationUs) {
        busyUntilUs = time.nowUs() + durationUs;
    }

    /** Not of one that is the only voter: cut off from all others it would have to lead. */
    private void takeImage(ServerMachine machine) {
        boolean isRight = world.machines.values().stream().noneMatch(ServerMachine::mayBeWrong)
                && !world.hasWrongStateSpread()
                && !machine.isDamaged();
        if (isRight
                && machine.isAlive()
                && machine.log().status().configuration().voters().size() > 1) {
            images.put(machine.id, machine.disk().image());
        }
    }

    private void goBack() {
        List<Integer> ids = new ArrayList<>(images.keySet());
        ServerMachine machine = world.machines.get(ids.get(random.nextInt(ids.size())));
        long last = world.machines.values().stream()
                .mapToLong(each -> each.log().status().lastIndex())
                .max()
                .orElseThrow();
        machine.kill();
        faults.losesItsLog(machine.id);
        busyFor(5_000_000);
        faults.calmFor(5_000_000);
        restore(machine, last, time.nowUs() + 5_000_000);
    }

    /**
     * Once all others have what it may have acknowledged: no more than a minority of those that have it may lose it.
     */
    private void restore(ServerMachine machine, long last, long untilUs) {
        boolean othersHaveIt = world.machines.values().stream()
                .allMatch(other -> other == machine
                        || (other.isAlive() && other.log().status().appliedIndex() >= last));
        if (machine.isAlive() || time.nowUs() > untilUs) {
            faults.calmFor(0);
            world.bringUp(machine.id);
        } else if (othersHaveIt) {
            faults.calmFor(0);
            world.trace.fault("disk restored from an older image", machine.id, 0);
            machine.restore(images.remove(machine.id));
            rot.spare(machine.disk());
            faults.restartLater(machine);
        } else {
            time.after(50_000, () -> restore(machine, last, untilUs));
        }
    }

    /** One dies, and while it is away another one loses power in the middle of a write. */
    private void tearWhileAnotherIsDown(ServerMachine down) {
        if (majority.isChosen()) {
            majority.tearBesideTheLeader();
            return;
        }
        ServerMachine torn = any();
        if (torn == down) {
            return;
        }
        world.trace.fault("power lost in a write while another one is down", torn.id, down.id);
        down.kill();
        int downUs = 2_000_000 + random.nextInt(4_000_000);
        busyFor(downUs);
        time.after(downUs, () -> world.bringUp(down.id));
        torn.disk().failAfter(1 + random.nextInt(6));
        time.after(200_000 + random.nextInt(800_000), () -> world.bringUp(torn.id));
    }

    private void failSync(ServerMachine machine) {
        if (machine.isAlive() && faults.mayTear()) {
            machine.disk().failSyncAfter(1 + random.nextInt(40), random.nextInt(3) == 0 ? "vote" : "");
        }
    }

    /** One is dead, and an operator removes another one, or makes it an observer. */
    private void takeVoteWhileAnotherIsDown(ServerMachine dead) {
        if (majority.isChosen()) {
            ServerMachine of = any();
            if (of != dead) {
                majority.takeVoteWhileAnotherIsDown(dead, takenFrom(of));
            }
            return;
        }
        dead.kill();
        int downUs = 5_000_000 + random.nextInt(3_000_000);
        busyFor(downUs);
        faults.calmFor(downUs);
        time.after(1_000_000 + random.nextInt(2_000_000), () -> takeVote(dead));
        time.after(downUs, () -> world.bringUp(dead.id));
    }

    /** As soon as there is a leader to ask. */
    private void takeVote(ServerMachine dead) {
        if (dead.isAlive() || !faults.isRunning() || time.nowUs() >= busyUntilUs) {
            return;
        }
        ServerMachine leader = world.leader();
        ServerMachine of = any();
        if (leader == null || of == dead || !faults.mayTear() || !areVoters(leader, of, dead)) {
            time.after(50_000, () -> takeVote(dead));
            return;
        }
        faults.calmFor(0);
        world.trace.fault("operator takes a vote while another one is down", of.id, dead.id);
        faults.takeVote(leader, takenFrom(of))
                .whenComplete((nothing, refusal) ->
                        world.trace.count(refusal == null ? "... and it is done" : "... and is refused, or not heard"));
    }

    private MembershipChange takenFrom(ServerMachine machine) {
        EnsembleMember member = world.listed().get(machine.id);
        return random.nextBoolean()
                ? new MembershipChange.Remove(machine.id)
                : new MembershipChange.Put(new EnsembleMember(
                        member.id(),
                        0,
                        member.host(),
                        member.peerPort(),
                        member.clientHost(),
                        member.clientPort(),
                        true));
    }

    private static boolean areVoters(ServerMachine leader, ServerMachine one, ServerMachine other) {
        return leader.log().status().configuration().voters().containsAll(List.of(one.id, other.id));
    }

    private void jump(ServerMachine to) {
        ServerMachine from = any();
        if (from != to && from.isAlive() && to.isAlive()) {
            world.network.send(from.id, from.directory(), to.id, JumpingTerms.message(random, to.directory()));
        }
    }
}
