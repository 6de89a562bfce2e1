package io.conclave.ensemble;

import io.conclave.consensus.entry.EnsembleMember;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The links between all members, one for each direction, with a thread of their own. Not thread-safe. */
final class Links implements AutoCloseable {
    @SuppressWarnings("deprecation") // Netty 4.1 has no other event loops, and 4.2 keeps these
    private final EventLoopGroup loops = new NioEventLoopGroup(1, new DefaultThreadFactory("conclave-links", true));

    /** By the server that dials, then by the one that is dialled. */
    private final Map<Integer, Map<Integer, LinkProxy>> all = new HashMap<>();

    /** Opens a link between any two members. */
    void open(Collection<EnsembleMember> members) {
        for (EnsembleMember from : members) {
            Map<Integer, LinkProxy> others = new TreeMap<>();
            all.put(from.id(), others);
            for (EnsembleMember to : members) {
                if (to.id() != from.id()) {
                    others.put(to.id(), new LinkProxy(loops, new InetSocketAddress(to.host(), to.peerPort())));
                }
            }
        }
    }

    /** The addresses that a member dials in place of those of the others. */
    Map<Integer, InetSocketAddress> dialledBy(int id) {
        return of(id).entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, link -> link.getValue()
                .address()));
    }

    void cut(int from, int to) {
        link(from, to).cut();
    }

    void heal(int from, int to) {
        link(from, to).heal();
    }

    void healAll() {
        all.values().forEach(others -> others.values().forEach(LinkProxy::heal));
    }

    /** Cuts all links of a member, in both directions. */
    void isolate(int id) {
        both(id).forEach(LinkProxy::cut);
    }

    /** Breaks the connections of a member, as its end does. */
    void breakConnections(int id) {
        both(id).forEach(LinkProxy::breakConnections);
    }

    private List<LinkProxy> both(int id) {
        List<LinkProxy> both = new ArrayList<>(of(id).values());
        all.values().forEach(others -> {
            LinkProxy link = others.get(id);
            if (link != null) {
                both.add(link);
            }
        });
        return both;
    }

    private Map<Integer, LinkProxy> of(int id) {
        return all.getOrDefault(id, Map.of());
    }

    private LinkProxy link(int from, int to) {
        LinkProxy link = of(from).get(to);
        if (link == null) {
            throw new IllegalArgumentException("there is no link from server " + from + " to server " + to);
        }
        return link;
    }

    @Override
    public void close() {
        all.values().forEach(others -> others.values().forEach(LinkProxy::close));
        all.clear();
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(1, TimeUnit.SECONDS);
    }
}
