package io.conclave.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** What goes wrong with the links among servers, and between clients and servers. */
final class LinkFaults {
    private static final int USUAL_NETWORK_US = 300;

    private final Simulation world;
    private final Random random;

    LinkFaults(Simulation world, Random random) {
        this.world = world;
        this.random = random;
    }

    /** The id of one of the servers. */
    int anyServer() {
        List<Integer> ids = new ArrayList<>(world.machines.keySet());
        return ids.get(random.nextInt(ids.size()));
    }

    /** All links work. */
    void heal() {
        world.network.heal();
        world.network.delayUs(USUAL_NETWORK_US);
        world.clients.heal();
        world.clients.usualDelayUs(USUAL_NETWORK_US);
    }

    void isolate(ServerMachine machine) {
        world.trace.fault("server cut off from the others", machine.id, 0);
        world.network.isolate(machine.id);
        if (random.nextInt(3) == 0) {
            world.users().forEach(user -> cut(user.id, machine.id));
        }
    }

    void cutOneWay() {
        int from = anyServer();
        int to = anyServer();
        if (from != to) {
            world.trace.fault("link cut one way", from, to);
            world.network.cut(from, to);
        }
    }

    void split() {
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

    void slowNetwork() {
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

    void cutClient() {
        world.trace.fault("client cut off", 0, 0);
        SimulatedClient user = anyUser();
        boolean all = random.nextBoolean();
        for (int server : world.machines.keySet()) {
            if (all || random.nextBoolean()) {
                cut(user.id, server);
            }
        }
    }

    void breakConnections() {
        world.trace.fault("connection of a client broken", 0, 0);
        if (random.nextBoolean()) {
            world.clients.breakOne();
        } else {
            anyUser().disconnect();
        }
    }
}
