package io.conclave.consensus.simulation;

import io.conclave.consensus.core.PeerMessage;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Links between members, one for each direction, as connections have them: each delivers a prefix of what was sent on
 * it, in order; a broken one is noticed by both ends some time later and made anew.
 */
public final class SimulatedNetwork {
    private static final long SILENCE_NOTICED_US = 3_000_000;

    /** One end of the links. */
    public interface Node {
        /** Whether it answers a connection. */
        boolean isListening();

        UUID clusterId();

        long directory();

        /** Whether it wants a link to the other one. */
        boolean wants(int other);

        void linked(int to, UUID clusterId, long directory);

        void linkDown(int to);

        void inboundLost(int from);

        void arrived(int from, long directory, PeerMessage message);
    }

    private static final class Link {
        final int from;
        final int to;
        boolean up;
        /** Nothing gets through, and what is sent is lost with all that follows it on this connection. */
        boolean cut;

        boolean doomed;
        long connection;
        long lastDeliveryUs;
        /** Of a message on this link; 0: as on all others. */
        long delayUs;

        Link(int from, int to) {
            this.from = from;
            this.to = to;
        }
    }

    private final VirtualTime time;
    private final Random random;
    private final Map<Integer, Node> nodes = new TreeMap<>();
    private final Map<Long, Link> links = new HashMap<>();

    /** Of a message, usually; now and then ten times as long. */
    private long delayUs = 300;

    public SimulatedNetwork(VirtualTime time, Random random) {
        this.time = time;
        this.random = random;
    }

    /** Puts a node there; it is dialled, and dials, from now on. */
    public void add(int id, Node node) {
        nodes.put(id, node);
        for (int other : nodes.keySet()) {
            if (other != id) {
                dialLater(link(id, other));
                dialLater(link(other, id));
            }
        }
    }

    private Link link(int from, int to) {
        return links.computeIfAbsent(from * 1000L + to, key -> new Link(from, to));
    }

    public void delayUs(long value) {
        delayUs = value;
    }

    /** Of messages from the one to the other alone; 0: as on all other links. */
    public void delayUs(int from, int to, long value) {
        link(from, to).delayUs = value;
    }

    private void dialLater(Link link) {
        long connection = link.connection;
        time.after(1_000 + random.nextInt(50_000), () -> {
            if (link.connection == connection && !link.up) {
                dial(link);
            }
        });
    }

    private void dial(Link link) {
        Node from = nodes.get(link.from);
        Node to = nodes.get(link.to);
        if (from == null || to == null) {
            return;
        }
        if (link.cut
                || link(link.to, link.from).cut
                || !from.isListening()
                || !to.isListening()
                || !from.wants(link.to)) {
            dialLater(link);
            return;
        }
        link.up = true;
        link.doomed = false;
        link.connection++;
        from.linked(link.to, to.clusterId(), to.directory());
    }

    /** Sends on the link, if there is one. */
    public void send(int from, int to, PeerMessage message) {
        Node sender = nodes.get(from);
        send(from, sender.isListening() ? sender.directory() : 0, to, message);
    }

    /** The same from a process with another directory. */
    public void send(int from, long directory, int to, PeerMessage message) {
        Link link = link(from, to);
        if (!link.up) {
            return;
        }
        link.doomed |= link.cut;
        if (link.doomed) {
            return;
        }
        long usual = 1 + random.nextInt((int) (link.delayUs > 0 ? link.delayUs : delayUs));
        long delay = random.nextInt(50) == 0 ? 10 * usual : usual;
        long atUs = Math.max(link.lastDeliveryUs, time.nowUs() + delay);
        link.lastDeliveryUs = atUs;
        long connection = link.connection;
        time.after(atUs - time.nowUs(), () -> {
            if (link.connection == connection && !link.doomed && nodes.get(to).isListening()) {
                nodes.get(to).arrived(from, directory, message);
            }
        });
    }

    /** Ends the connection; what is under way on it is lost. */
    public void reset(int from, int to) {
        Link link = link(from, to);
        if (!link.up) {
            return;
        }
        link.up = false;
        link.connection++;
        long connection = link.connection;
        link.lastDeliveryUs = time.nowUs();
        time.after(random.nextInt(3_000), () -> {
            if (link.connection == connection) {
                nodes.get(from).linkDown(to);
                dialLater(link);
            }
        });
        time.after(random.nextInt(900), () -> {
            if (link.connection == connection) {
                nodes.get(to).inboundLost(from);
            }
        });
    }

    /** All connections of a node end: its process does, or it is another one now. */
    public void resetAll(int id) {
        for (int other : nodes.keySet()) {
            if (other != id) {
                reset(id, other);
                reset(other, id);
            }
        }
    }

    /** The node is another member now: all that know the former one have to connect again. */
    public void comeAgain(int id) {
        for (int other : nodes.keySet()) {
            if (other != id) {
                reset(other, id);
            }
        }
    }

    /** Nothing from the one to the other gets through until {@link #heal}. */
    public void cut(int from, int to) {
        Link link = link(from, to);
        link.cut = true;
        long connection = link.connection;
        time.after(SILENCE_NOTICED_US, () -> {
            if (link.cut && link.connection == connection) {
                reset(from, to);
            }
        });
    }

    /** Splits the one off from all others. */
    public void isolate(int id) {
        for (int other : nodes.keySet()) {
            if (other != id) {
                cut(id, other);
                cut(other, id);
            }
        }
    }

    /** All links work again; those that lost something are made anew. */
    public void heal() {
        for (Link link : links.values()) {
            link.cut = false;
            if (link.doomed) {
                reset(link.from, link.to);
            }
        }
    }
}
