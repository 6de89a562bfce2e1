package io.conclave.connection;

import io.netty.channel.Channel;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The connections to ports with TLS whose handshake is not complete. Each has the time of a handshake; when there are
 * too many, the oldest gives way, since a client needs a moment only. Thread-safe.
 */
final class HalfOpenHandshakes {
    static final int MOST = 1024;

    private final Set<Channel> channels = new LinkedHashSet<>(); // @GuardedBy("this")

    void enter(Channel channel) {
        Channel oldest = null;
        synchronized (this) {
            channels.add(channel);
            if (channels.size() > MOST) {
                Iterator<Channel> first = channels.iterator();
                oldest = first.next();
                first.remove();
            }
        }
        if (oldest != null) {
            oldest.close();
        }
    }

    synchronized void leave(Channel channel) {
        channels.remove(channel);
    }

    synchronized int count() {
        return channels.size();
    }
}
