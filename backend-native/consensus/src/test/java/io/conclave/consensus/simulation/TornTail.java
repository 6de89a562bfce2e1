package io.conclave.consensus.simulation;

import static io.conclave.consensus.simulation.EnsembleSimulation.SECOND_US;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * As many members are down as an ensemble can do without, and another one loses power in the middle of a write: its
 * vote is provisional, and no majority is without it.
 */
final class TornTail {
    private final EnsembleSimulation simulation;

    /** Does not restart. */
    final int leader;

    final List<Integer> down = new ArrayList<>();
    final int loser;

    /** Of an ensemble that is whole and has a leader. */
    TornTail(EnsembleSimulation simulation) {
        this.simulation = simulation;
        leader = simulation.leader();
        int size = simulation.members.size();
        int next = leader % size + 1;
        while (down.size() < size / 2) {
            down.add(next);
            next = next % size + 1;
        }
        loser = next;
    }

    /** Whether the power is lost while the leader leads; it can do so no longer when this returns. */
    boolean lose(Random random) {
        down.forEach(id -> simulation.members.get(id).kill());
        simulation.runFor(SECOND_US);
        SimulatedMember member = simulation.members.get(loser);
        member.disk().failAfter(1 + random.nextInt(2));
        for (int i = 0; i < 1_000 && member.isAlive() && simulation.leader() == leader; i++) {
            for (int k = 0; k < 30; k++) {
                simulation.propose(leader, 200);
            }
            simulation.runFor(1_000);
        }
        boolean isLost = !member.isAlive() && simulation.leader() == leader;
        simulation.runFor(3 * SECOND_US);
        return isLost;
    }

    /** Starts the one that has lost power; whether the end of its log is torn. */
    boolean startLoser() {
        simulation.start(loser, false);
        simulation.runFor(SECOND_US / 20);
        return VoteBytes.isTorn(simulation.members.get(loser).disk());
    }
}
