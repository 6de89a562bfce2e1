package io.conclave.consensus;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Connections that have proven nothing yet: their handshake is not complete. There are so many at most, in all and of
 * each address; of IPv6, of each network of 64 bits, since a host may have any address in its own. One more is always
 * let in, and the oldest gives way: of its address, if that has all that it may have; else of the address with most;
 * of all, where none has more than a few. A handshake needs a moment only, and one whose way is long is not pushed out
 * by an address that makes many. Thread-safe.
 *
 * @param <C> a connection
 */
public final class Strangers<C> {
    /** In all. */
    public static final int MOST = 1024;

    /** So many members may call from one network at a time. */
    public static final int FEW_OF_AN_ADDRESS = 4;

    private final int mostOfAnAddress;

    // Both: @GuardedBy("this").
    /** The network of each, in order. */
    private final Map<C, String> networks = new LinkedHashMap<>();

    private final Map<String, Set<C>> byNetwork = new HashMap<>();

    /** None, of which an address may have so many. */
    public Strangers(int mostOfAnAddress) {
        this.mostOfAnAddress = mostOfAnAddress;
    }

    /**
     * Adds a new one; returns the one that has to give way, if one has to.
     *
     * @param host its address as a number
     */
    public synchronized Optional<C> add(C connection, String host) {
        String network = HostNetwork.of(host);
        networks.put(connection, network);
        Set<C> ofNetwork = byNetwork.computeIfAbsent(network, none -> new LinkedHashSet<>());
        ofNetwork.add(connection);
        Optional<C> goes = Optional.empty();
        if (ofNetwork.size() > mostOfAnAddress) {
            goes = Optional.of(ofNetwork.iterator().next());
        } else if (networks.size() > MOST) {
            goes = Optional.of(oldestOfThoseWithMost());
        }
        goes.ifPresent(this::remove);
        return goes;
    }

    private C oldestOfThoseWithMost() {
        int most = byNetwork.values().stream().mapToInt(Set::size).max().orElse(0);
        return networks.entrySet().stream()
                .filter(entry -> most <= FEW_OF_AN_ADDRESS || count(entry.getValue()) == most)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseThrow();
    }

    private int count(String network) {
        return byNetwork.getOrDefault(network, Set.of()).size();
    }

    /** Its handshake is complete, or it has ended. Idempotent. */
    public synchronized void remove(C connection) {
        String network = networks.remove(connection);
        if (network != null) {
            byNetwork.computeIfPresent(network, (same, ofNetwork) -> {
                ofNetwork.remove(connection);
                return ofNetwork.isEmpty() ? null : ofNetwork;
            });
        }
    }

    /** How many there are. */
    public synchronized int count() {
        return networks.size();
    }
}
