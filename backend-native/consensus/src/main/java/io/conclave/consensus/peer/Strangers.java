package io.conclave.consensus.peer;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Connections that no member has been accepted on yet. There are so many at most, in all and of each address;
 * of IPv6, of each network of 64 bits, since a host may have any address in its own. One more is always let in, and
 * the oldest gives way, of its address or of one that has most of them; of all, where none has more than a few. A
 * member needs a moment only, so connections that stay strangers keep none out. Belongs to the network's thread.
 */
final class Strangers {
    static final int MOST = 1024;
    static final int MOST_OF_AN_ADDRESS = 256;

    /** So many members may call from one network at a time. */
    static final int FEW_OF_AN_ADDRESS = 4;

    private final Set<InboundLink> all = new LinkedHashSet<>();
    private final Map<String, Set<InboundLink>> byAddress = new HashMap<>();

    /** Adds a new one; returns the one that has to give way, if one has to. */
    Optional<InboundLink> add(InboundLink link) {
        Set<InboundLink> ofAddress = byAddress.computeIfAbsent(link.remoteNetwork(), host -> new LinkedHashSet<>());
        Optional<InboundLink> goes = Optional.empty();
        if (ofAddress.size() >= MOST_OF_AN_ADDRESS) {
            goes = Optional.of(ofAddress.iterator().next());
        } else if (all.size() >= MOST) {
            goes = Optional.of(oldestOfThoseWithMost());
        }
        all.add(link);
        ofAddress.add(link);
        goes.ifPresent(this::remove);
        return goes;
    }

    private InboundLink oldestOfThoseWithMost() {
        int most = byAddress.values().stream().mapToInt(Set::size).max().orElse(0);
        if (most <= FEW_OF_AN_ADDRESS) {
            return all.iterator().next();
        }
        return all.stream().filter(link -> of(link).size() == most).findFirst().orElseThrow();
    }

    private Set<InboundLink> of(InboundLink link) {
        return byAddress.getOrDefault(link.remoteNetwork(), Set.of());
    }

    void remove(InboundLink link) {
        all.remove(link);
        byAddress.computeIfPresent(link.remoteNetwork(), (host, links) -> {
            links.remove(link);
            return links.isEmpty() ? null : links;
        });
    }

    int count() {
        return all.size();
    }
}
