package io.conclave.consensus.core;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Links between the members, one each way: in order, delayed, cut one way or both, sometimes losing or doubling a
 * message or (against what real links do) changing their order. What a broken link still delivers is a prefix of what
 * was sent, then the receiver hears that it is lost; its sender learns of a new link.
 */
final class SimulatedLinks {
    private static final class Link {
        boolean up;
        boolean cut;
        /** Messages sent on an earlier connection than this are lost, but for those below {@code lostAtMs}. */
        int connection;

        long lostAtMs = Long.MAX_VALUE;
        long lastDeliveryMs;
        long stalledUntilMs;
    }

    private final SimulatedCluster cluster;
    private final SplittableRandom random;
    private final Map<Integer, Link> links = new HashMap<>();
    /** The connections that their senders know of. */
    private final Map<Integer, Integer> ready = new HashMap<>();

    int delayMs = 3;
    int lossPermille;
    int doublePermille;
    int reorderPermille;
    /** How long it takes at most until a broken link is made anew, and until its sender learns of it. */
    int remakingMs = 30;
    /** For how long a broken link may still deliver what was sent. */
    int lingeringMs = 10;

    SimulatedLinks(SimulatedCluster cluster, SplittableRandom random) {
        this.cluster = cluster;
        this.random = random;
    }

    private Link link(int from, int to) {
        return links.computeIfAbsent(from * 1000 + to, key -> new Link());
    }

    /** Connects both ways after a while, if both are there. */
    void connect(int from, int to) {
        Link link = link(from, to);
        if (link.up || link.cut || !isUp(from) || !isUp(to)) {
            return;
        }
        if (cluster.nowMs < link.stalledUntilMs) {
            cluster.at(link.stalledUntilMs, () -> connect(from, to));
            return;
        }
        link.up = true;
        link.connection++;
        int connection = link.connection;
        link.lastDeliveryMs = Math.max(link.lastDeliveryMs, cluster.nowMs);
        int at = soonMs();
        link.lostAtMs = Long.MAX_VALUE;
        cluster.at(cluster.nowMs + at, () -> {
            if (link.up && link.connection == connection) {
                SimulatedMember member = cluster.member(from);
                long directory = cluster.member(to).disk.directory;
                ready.put(from * 1000 + to, connection);
                cluster.member(to).isLinkedAnew = true;
                member.turn(() -> member.core.linked(cluster.nowMs, to, directory));
            }
        });
    }

    private boolean isUp(int member) {
        return cluster.member(member).isUp();
    }

    /** Breaks the connection; it comes back by itself unless the link is cut or a member is down. */
    void drop(int from, int to) {
        Link link = link(from, to);
        if (!link.up) {
            return;
        }
        link.up = false;
        ready.remove(from * 1000 + to);
        // a dead receiver gets nothing more, and its next start does not wait for that
        long lostAtMs = cluster.nowMs + (isUp(to) ? random.nextInt(lingeringMs) : 0);
        link.lostAtMs = lostAtMs;
        int connection = link.connection;
        link.lastDeliveryMs = isUp(to) ? Math.max(link.lastDeliveryMs, lostAtMs) : lostAtMs;
        cluster.at(link.lastDeliveryMs, () -> {
            SimulatedMember member = cluster.member(to);
            if (link.connection == connection || link.up) {
                member.turn(() -> member.core.linkLost(cluster.nowMs, from));
            }
        });
        cluster.at(link.lastDeliveryMs + soonMs(), () -> connect(from, to));
    }

    /** What is under way takes so much longer, and if the connection breaks, the next one is not there before that. */
    void stall(int from, int to, int forMs) {
        Link link = link(from, to);
        link.stalledUntilMs = cluster.nowMs + forMs;
        link.lastDeliveryMs = Math.max(link.lastDeliveryMs, link.stalledUntilMs);
    }

    /** Cuts (or mends) one direction; whether the ends notice at once is chance. */
    void cut(int from, int to, boolean cut) {
        Link link = link(from, to);
        if (link.cut == cut) {
            return;
        }
        link.cut = cut;
        if (cut && random.nextBoolean()) {
            drop(from, to);
        } else if (!cut) {
            drop(from, to);
            connectSoon(from, to);
        }
    }

    void connectSoon(int from, int to) {
        cluster.at(cluster.nowMs + soonMs(), () -> connect(from, to));
    }

    private int soonMs() {
        return 1 + random.nextInt(random.nextBoolean() ? 3 : remakingMs);
    }

    void send(int from, int to, PeerMessage message) {
        Link link = link(from, to);
        Integer connection = ready.get(from * 1000 + to);
        if (connection == null || link.cut || random.nextInt(1000) < lossPermille) {
            return;
        }
        deliver(from, to, link, connection, message);
        if (random.nextInt(1000) < doublePermille) {
            deliver(from, to, link, connection, message);
        }
    }

    private void deliver(int from, int to, Link link, int connection, PeerMessage message) {
        long atMs = Math.max(link.lastDeliveryMs, cluster.nowMs + 1 + random.nextInt(delayMs));
        if (random.nextInt(1000) < reorderPermille) {
            atMs += random.nextInt(300);
        } else {
            link.lastDeliveryMs = atMs;
        }
        long deliverAtMs = atMs;
        SimulatedMember receiver = cluster.member(to);
        int run = receiver.run();
        cluster.at(deliverAtMs, () -> {
            boolean arrives = link.connection == connection && deliverAtMs <= link.lostAtMs && receiver.run() == run;
            if (arrives) {
                receiver.turn(() -> receiver.core.receive(cluster.nowMs, from, message));
            }
        });
    }
}
