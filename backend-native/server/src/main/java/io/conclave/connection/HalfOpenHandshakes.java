package io.conclave.connection;

import io.netty.channel.Channel;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The connections to ports with TLS whose handshake is not complete. Each has the time of a handshake; when there are
 * too many, the oldest gives way, since a client needs a moment only. Thread-safe.
 */
final class HalfOpenHandshakes {
    static final int MOST = 1024;

    /** In order; and how each gives way. */
    private final Map<Channel, Runnable> channels = new LinkedHashMap<>(); // @GuardedBy("this")

    /** @param giveWay closes it; called on any thread if it has to */
    void enter(Channel channel, Runnable giveWay) {
        Runnable oldest = () -> {};
        synchronized (this) {
            channels.put(channel, giveWay);
            if (channels.size() > MOST) {
                Iterator<Runnable> first = channels.values().iterator();
                oldest = first.next();
                first.remove();
            }
        }
        oldest.run();
    }

    synchronized void leave(Channel channel) {
        channels.remove(channel);
    }

    synchronized int count() {
        return channels.size();
    }
}
