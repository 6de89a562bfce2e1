package io.conclave.connection;

import io.conclave.consensus.HostNetwork;
import io.netty.channel.Channel;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The connections to ports with TLS whose handshake is not complete. Each has the time of a handshake; when there are
 * too many, the oldest one of the address with most gives way. So a client whose way is long needs more than a moment,
 * and is not pushed out by an address that makes many. Thread-safe.
 */
final class HalfOpenHandshakes {
    static final int MOST = 1024;

    /** Where no address has more, the oldest one of all gives way. */
    static final int FEW_OF_AN_ADDRESS = 4;

    /** Of one connection: where it comes from, and how it gives way. */
    private record Entry(InetAddress network, Runnable giveWay) {}

    // Both: @GuardedBy("this").
    /** In order. */
    private final Map<Channel, Entry> channels = new LinkedHashMap<>();

    private final Map<InetAddress, Integer> counts = new HashMap<>();

    /**
     * A connection begins.
     *
     * @param address where it comes from; the addresses of one network of IPv6 count as one
     * @param giveWay closes it; called on any thread if it has to
     */
    void enter(Channel channel, InetAddress address, Runnable giveWay) {
        Runnable goes = () -> {};
        synchronized (this) {
            Entry entry = new Entry(HostNetwork.of(address), giveWay);
            channels.put(channel, entry);
            counts.merge(entry.network, 1, Integer::sum);
            if (channels.size() > MOST) {
                goes = removeOldestOfThoseWithMost();
            }
        }
        goes.run();
    }

    private Runnable removeOldestOfThoseWithMost() {
        int most = counts.values().stream().mapToInt(Integer::intValue).max().orElse(0);
        Iterator<Entry> inOrder = channels.values().iterator();
        Entry oldest = inOrder.next();
        while (most > FEW_OF_AN_ADDRESS && counts.getOrDefault(oldest.network, 0) < most) {
            oldest = inOrder.next();
        }
        inOrder.remove();
        left(oldest);
        return oldest.giveWay;
    }

    private void left(Entry entry) {
        counts.computeIfPresent(entry.network, (network, count) -> count == 1 ? null : count - 1);
    }

    synchronized void leave(Channel channel) {
        Entry entry = channels.remove(channel);
        if (entry != null) {
            left(entry);
        }
    }

    synchronized int count() {
        return channels.size();
    }
}
