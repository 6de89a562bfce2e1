package io.conclave.connection;

import io.conclave.consensus.HostNetwork;
import io.conclave.replica.Step;
import io.conclave.time.TimeSource;
import io.conclave.tree.Result;
import io.conclave.tree.TreeState;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Counts the sessions that were opened or resumed through this server and have not ended, by the address of their
 * clients, and how many were opened in this second. The addresses of one network of IPv6 count as one: a host may have
 * all of them. A session outlives its connection, so a bound of connections does not bound sessions. Sessions come and
 * go on the log's thread; any thread may ask.
 */
final class SessionCounts {
    private final LimitGuard guard;
    private final TimeSource time;

    /** The log's thread only. */
    private final Map<Long, InetAddress> networks = new HashMap<>();

    private final ConcurrentHashMap<InetAddress, Integer> byNetwork = new ConcurrentHashMap<>();

    // All: @GuardedBy("this").
    private long second = Long.MIN_VALUE;
    private long openedInSecond;
    private final Map<InetAddress, Integer> openedByNetwork = new HashMap<>();

    SessionCounts(LimitGuard guard, TimeSource time) {
        this.guard = guard;
        this.time = time;
    }

    /**
     * Whether a client may have a new session; if not, the refusal is counted and logged.
     *
     * @param address null for a client inside the JVM
     * @param sessions how many there are in the cluster
     */
    boolean admits(@Nullable InetAddress address, long sessions, Object connection) {
        if (!guard.allows(ClientLimit.SESSIONS, sessions + 1)) {
            guard.refused(ClientLimit.SESSIONS, newSession(connection) + ": there are " + sessions + " sessions");
            return false;
        }
        int ofAddress = address == null ? 0 : byNetwork.getOrDefault(HostNetwork.of(address), 0);
        if (!guard.allows(ClientLimit.SESSIONS_OF_ADDRESS, ofAddress + 1L)) {
            guard.refused(
                    ClientLimit.SESSIONS_OF_ADDRESS,
                    newSession(connection) + ": its address has opened " + ofAddress + " that still live");
            return false;
        }
        return admitsInSecond(address, newSession(connection));
    }

    /**
     * Whether a client may resume a session that this server does not know, or knows with another password. Almost
     * always it is answered as expired, but only behind an entry of the log; so it counts as an opening does.
     */
    boolean admitsUnknown(@Nullable InetAddress address, Object connection) {
        return admitsInSecond(address, "a session of " + connection + ", which is not known here");
    }

    private boolean admitsInSecond(@Nullable InetAddress address, String what) {
        Optional<String> problem = countInSecond(address);
        problem.ifPresent(text -> guard.refused(ClientLimit.SESSIONS_PER_SECOND, what + ": " + text));
        return problem.isEmpty();
    }

    private static String newSession(Object connection) {
        return "a new session of " + connection;
    }

    /** Why there is no room in this second, or nothing if there is; then it is taken. */
    private synchronized Optional<String> countInSecond(@Nullable InetAddress address) {
        long now = TimeUnit.NANOSECONDS.toSeconds(time.monotonicNanos());
        if (now != second) {
            second = now;
            openedInSecond = 0;
            openedByNetwork.clear();
        }
        if (!guard.allows(ClientLimit.SESSIONS_PER_SECOND, openedInSecond + 1)) {
            return Optional.of("that many were opened in this second already");
        }
        if (address != null && limitsAddresses()) {
            InetAddress network = HostNetwork.of(address);
            int ofAddress = openedByNetwork.getOrDefault(network, 0);
            if (ofAddress >= shareOfAddress()) {
                return Optional.of("its address has opened " + ofAddress + " in this second, and one may have half");
            }
            openedByNetwork.put(network, ofAddress + 1);
        }
        openedInSecond++;
        return Optional.empty();
    }

    /** Not where many clients may share one address. */
    private boolean limitsAddresses() {
        return guard.limits().configured(ClientLimit.SESSIONS_OF_ADDRESS) > 0
                && guard.limits().configured(ClientLimit.SESSIONS_PER_SECOND) > 0;
    }

    /** Half of what is opened in a second, and one at least: a stranger leaves the others the other half. */
    private long shareOfAddress() {
        long most = guard.limits().configured(ClientLimit.SESSIONS_PER_SECOND);
        return most - most / 2;
    }

    /** On the log's thread. */
    void applied(Step step) {
        if (step.applied().result() instanceof Result.SessionClosed closed) {
            remove(closed.sessionId());
        } else if (step.applied().result() instanceof Result.SessionAttached attached
                && step.origin() instanceof ConnectionProposal proposal) {
            InetAddress address = proposal.address();
            if (address != null) {
                add(attached.session().id(), HostNetwork.of(address));
            }
        }
    }

    /** A state to which no steps led. On the log's thread. */
    void began(TreeState state) {
        for (Long id : new ArrayList<>(networks.keySet())) {
            if (state.session(id).isEmpty()) {
                remove(id);
            }
        }
    }

    private void add(long sessionId, InetAddress network) {
        if (networks.putIfAbsent(sessionId, network) == null) {
            byNetwork.merge(network, 1, Integer::sum);
        }
    }

    private void remove(long sessionId) {
        InetAddress network = networks.remove(sessionId);
        if (network != null) {
            byNetwork.computeIfPresent(network, (key, count) -> count == 1 ? null : count - 1);
        }
    }
}
