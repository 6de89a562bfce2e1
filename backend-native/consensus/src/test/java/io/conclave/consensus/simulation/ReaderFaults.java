package io.conclave.consensus.simulation;

import java.util.Random;

/**
 * Whatever a member that reads a state may meet: its death, leadership on its way to it, another leader, other links.
 */
final class ReaderFaults {
    private final EnsembleSimulation ensemble;
    private final Random random;
    private final boolean durable;
    private final int size;

    /** @param size of the ensemble */
    ReaderFaults(EnsembleSimulation ensemble, Random random, boolean durable, int size) {
        this.ensemble = ensemble;
        this.random = random;
        this.durable = durable;
        this.size = size;
    }

    /** Some of those that read now meet something. */
    void strike() {
        for (int id : ensemble.living()) {
            if (ensemble.application(id).isReading() && random.nextInt(3) == 0) {
                strike(id);
            }
        }
    }

    private void strike(int id) {
        int leader = ensemble.leader();
        switch (random.nextInt(5)) {
            case 0 -> {
                if (durable) {
                    ensemble.members.get(id).kill();
                }
            }
            case 1 -> {
                if (leader != 0 && leader != id) {
                    ensemble.log(leader).transferLeadership(id);
                }
            }
            case 2 -> {
                if (leader != 0 && leader != id) {
                    ensemble.members.get(leader).pause(2_500_000);
                }
            }
            case 3 -> ensemble.network.reset(id, 1 + random.nextInt(size));
            default -> ensemble.network.isolate(id);
        }
    }
}
