package io.conclave.client;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The addresses that one session has tried, so that among those of one name the one whose connection has just failed or
 * fallen silent comes last. Owned by the session's event loop.
 */
final class TriedAddresses {
    private static final int MOST = 1_000; // a name server may give others each time

    /** The one that was tried last is the last. */
    private final Set<InetSocketAddress> tried = new LinkedHashSet<>();

    /** Those that were never tried, in the given order, then the others, the one that was tried last at the end. */
    List<InetSocketAddress> lastTriedLast(List<InetSocketAddress> addresses) {
        List<InetSocketAddress> byTime = new ArrayList<>(tried);
        return addresses.stream()
                .sorted(Comparator.comparingInt(byTime::indexOf)) // stable; -1 if it was not tried
                .toList();
    }

    /** The address is tried now. */
    void add(InetSocketAddress address) {
        if (tried.size() >= MOST) {
            tried.clear();
        }
        tried.remove(address);
        tried.add(address);
    }
}
