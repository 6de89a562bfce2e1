package io.conclave.simulation;

import io.conclave.connection.ServiceMode;
import io.conclave.consensus.ChangeOutcomeUnknownException;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.simulation.VirtualTime;
import io.conclave.consensus.simulation.VoteBytes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * What a cluster has to survive with a leader while some of its members are away. The virtual time without one has the
 * bounds of decision 0013. Nothing else goes wrong meanwhile, and the time of trouble lasts until it is decided.
 */
final class LivingMajority {
    private static final long STEP_US = 20_000;
    private static final long BOUND_US = 5_000_000;

    /** By then a leader without a majority has stepped down. */
    private static final long DEPOSED_US = 4_000_000;

    private final Simulation world;
    private final Faults faults;
    private final VirtualTime time;
    private final Random random;
    private boolean undecided;
    private boolean tears;

    LivingMajority(Simulation world, Faults faults, Random random) {
        this.world = world;
        this.faults = faults;
        this.time = world.time;
        this.random = random;
    }

    /** Whether something is under way that asks for a leader. */
    boolean isUndecided() {
        return undecided;
    }

    /** Whether a write is about to be torn. */
    boolean tears() {
        return tears;
    }

    /** Whether this is to be tried now, or the same among all other faults. */
    boolean isChosen() {
        return random.nextInt(3) != 0 && faults.everythingElseWorks();
    }

    // ---- a torn tail while others are down

    /**
     * As many are down as the cluster can do without, and another one loses power in the middle of a write. The leader
     * lives on, so it has all that the torn member lost, and counts its vote as a complete one.
     */
    void tearBesideTheLeader() {
        ServerMachine leader = world.leader();
        List<ServerMachine> others = new ArrayList<>();
        for (int id : leader.log().status().configuration().voters()) {
            if (id != leader.id) {
                others.add(world.machines.get(id));
            }
        }
        Collections.shuffle(others, random);
        ServerMachine torn = others.remove(0);
        List<ServerMachine> down = others.subList(0, (others.size() + 2) / 2);
        begin();
        down.forEach(this::takeDown);
        faults.keepDown(torn);
        tears = true;
        time.after(200_000, () -> torn.disk().failAfter(1 + random.nextInt(2)));
        await(2_000_000, () -> !torn.isAlive(), () -> lost(leader, torn, down), () -> {
            torn.disk().failAfter(-1);
            end();
        });
    }

    private void takeDown(ServerMachine machine) {
        world.trace.fault("server down, and nothing else amiss", machine.id, 0);
        machine.kill();
        faults.keepDown(machine);
    }

    /** It comes back while the others are still down, before or after the leader has stepped down. */
    private void lost(ServerMachine leader, ServerMachine torn, List<ServerMachine> down) {
        tears = false;
        if (world.leader() != leader) {
            end();
            return;
        }
        time.after(random.nextInt(4_000_000), () -> {
            requireReasons();
            faults.mayRun(torn);
            world.bringUp(torn.id);
            boolean isTorn = VoteBytes.isTorn(torn.disk());
            await(
                    BOUND_US,
                    () -> isLed(torn),
                    () -> {
                        world.trace.count(isTorn ? "leader beside a torn tail" : "leader beside a tail that is whole");
                        end();
                    },
                    () -> violated("within 5 s of the restart of " + torn.id + ", while " + ids(down) + " are down"));
        });
    }

    /** Any leader will do: of five, another whole one may lead, if it has led before. */
    private boolean isLed(ServerMachine torn) {
        return isLed() && torn.isAlive() && torn.log().status().leader() == world.leader().id;
    }

    // ---- a vote that is taken while another voter is dead

    /** A change that the rest could not live with is refused; the leader that lives on does not step down for it. */
    void takeVoteWhileAnotherIsDown(ServerMachine dead, MembershipChange change) {
        begin();
        takeDown(dead);
        time.after(
                1_000_000 + random.nextInt(2_000_000),
                () -> await(
                        BOUND_US,
                        this::isLed,
                        () -> change(world.leader(), dead, change),
                        () -> violated("within 5 s, while " + dead.id + " alone is down")));
    }

    private void change(ServerMachine leader, ServerMachine dead, MembershipChange change) {
        long term = leader.log().status().term();
        world.trace.fault("operator takes a vote, and nothing else amiss", leader.id, dead.id);
        boolean[] refused = {false};
        faults.takeVote(leader, change).whenComplete((nothing, refusal) -> refused[0] = isRefused(refusal));
        time.after(
                DEPOSED_US,
                () -> await(
                        BOUND_US - DEPOSED_US,
                        this::isLed,
                        () -> {
                            world.trace.count(refused[0] ? "leader beside a refused change" : "leader beside a change");
                            LogStatus status = world.leader().log().status();
                            if (refused[0] && (world.leader() != leader || status.term() != term)) {
                                violated("in term " + term + " any more, though the change was refused");
                            }
                            end();
                        },
                        () -> violated("within 5 s of " + change + ", while " + dead.id + " is dead")));
    }

    private static boolean isRefused(Throwable outcome) {
        return outcome instanceof CompletionException
                ? isRefused(outcome.getCause())
                : outcome != null && !(outcome instanceof ChangeOutcomeUnknownException);
    }

    // ---- what both do

    private void begin() {
        undecided = true;
        faults.calmFor(Long.MAX_VALUE / 2);
    }

    private void end() {
        faults.allMayRun();
        faults.calmFor(0);
        tears = false;
        undecided = false;
    }

    private void await(long forUs, BooleanSupplier condition, Runnable then, Runnable otherwise) {
        if (condition.getAsBoolean()) {
            then.run();
        } else if (forUs <= 0) {
            otherwise.run();
        } else {
            time.after(STEP_US, () -> await(forUs - STEP_US, condition, then, otherwise));
        }
    }

    private boolean isLed() {
        ServerMachine leader = world.leader();
        return leader != null && leader.server().mode() == ServiceMode.FULL;
    }

    /** Each member that knows no leader says why. */
    private void requireReasons() {
        for (ServerMachine machine : world.machines.values()) {
            if (machine.isAlive() && machine.log().status().leader() == 0) {
                world.trace.count("reasons why there is no leader");
                if (machine.log().status().noLeaderReason().isEmpty()) {
                    world.violated(new Violation(machine.id + " knows no leader, and does not say why"));
                }
            }
        }
    }

    private void violated(String what) {
        world.violated(new Violation("no leader " + what + reasons()));
    }

    private String reasons() {
        return world.machines.values().stream()
                .map(machine -> "\n  " + machine.id + ": "
                        + (machine.isAlive()
                                ? machine.log().status() + " serving "
                                        + machine.server().mode()
                                : "dead"))
                .collect(Collectors.joining());
    }

    private static List<Integer> ids(List<ServerMachine> machines) {
        return machines.stream().map(machine -> machine.id).toList();
    }
}
