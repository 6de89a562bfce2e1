package io.conclave.connection;

import io.conclave.consensus.HostNetwork;
import io.conclave.replica.Step;
import io.conclave.time.TimeSource;
import io.conclave.tree.Change;
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
 * clients, and how many were opened in the last second. The addresses of one network of IPv6 count as one: a host may
 * have all of them. A session outlives its connection, so a bound of connections does not bound sessions. Sessions come
 * and go on the log's thread; any thread may ask.
 *
 * <p>An eighth of the sessions of the cluster, and of a second, is kept for addresses that have few: so some strangers
 * that open as many as they can do not keep out a client that comes for the first time.
 */
final class SessionCounts {
    /** The part of a total that is kept for addresses that have few. */
    private static final int KEPT_PART = 8;

    /** An address with fewer sessions that live, opened through this server, has few. */
    static final int FEW_SESSIONS = 16;

    /** An address with fewer sessions that were opened in this second has few. */
    static final int FEW_IN_SECOND = 4;

    private final LimitGuard guard;
    private final TimeSource time;

    /** The log's thread only. */
    private final Map<Long, InetAddress> networks = new HashMap<>();

    /** Those on their way through the log, too. */
    private final ConcurrentHashMap<InetAddress, Integer> byNetwork = new ConcurrentHashMap<>();

    /** Sessions that are on their way through the log, and for which network. */
    private final ConcurrentHashMap<Long, Optional<InetAddress>> opening = new ConcurrentHashMap<>();

    // All: @GuardedBy("this").
    private long second = Long.MIN_VALUE;
    private final RecentCount opened;
    private final Map<InetAddress, Opened> openedByNetwork = new HashMap<>();

    /** By one network, in this second and in the last one; guarded as its map is. */
    private static final class Opened {
        private final RecentCount recent;
        private int inSecond;

        Opened(RecentCount recent) {
            this.recent = recent;
        }
    }

    SessionCounts(LimitGuard guard, TimeSource time) {
        this.guard = guard;
        this.time = time;
        this.opened = new RecentCount(guard.limits().most(ClientLimit.SESSIONS_PER_SECOND), time.monotonicNanos());
    }

    /**
     * Whether a client may have a new session; if not, the refusal is counted and logged.
     *
     * @param address null for a client inside the JVM
     * @param sessions how many there are in the cluster
     */
    boolean admits(@Nullable InetAddress address, long sessions, Object connection) {
        int ofAddress = address == null ? 0 : byNetwork.getOrDefault(HostNetwork.of(address), 0);
        boolean hasFew = address == null || ofAddress < FEW_SESSIONS;
        long all = sessions + opening.mappingCount();
        if (all >= most(ClientLimit.SESSIONS, hasFew)) {
            guard.refused(
                    ClientLimit.SESSIONS,
                    newSession(connection) + ": there are " + all + " sessions"
                            + keptFor(hasFew, FEW_SESSIONS + " sessions here, and it has " + ofAddress));
            return false;
        }
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
        long now = time.monotonicNanos();
        beginSecond(now);
        Opened ofAddress = address == null || !limitsAddresses()
                ? null
                : openedByNetwork.computeIfAbsent(
                        HostNetwork.of(address), network -> new Opened(new RecentCount(shareOfAddress(), now)));
        boolean hasFew = ofAddress == null || ofAddress.inSecond < FEW_IN_SECOND;
        if (!opened.hasRoom(now, most(ClientLimit.SESSIONS_PER_SECOND, hasFew))) {
            int inSecond = ofAddress == null ? 0 : ofAddress.inSecond;
            return Optional.of(Math.round(opened.at(now)) + " were opened in the last second"
                    + keptFor(hasFew, FEW_IN_SECOND + " in this second, and it has " + inSecond));
        }
        if (ofAddress != null) {
            if (!ofAddress.recent.hasRoom(now, shareOfAddress())) {
                return Optional.of("its address has opened " + Math.round(ofAddress.recent.at(now))
                        + " in the last second, and one may have half");
            }
            ofAddress.recent.add();
            ofAddress.inSecond++;
        }
        opened.add();
        return Optional.empty();
    }

    /** Forgets the addresses that have opened nothing for a second. */
    private void beginSecond(long nowNanos) {
        long now = TimeUnit.NANOSECONDS.toSeconds(nowNanos);
        if (now != second) {
            second = now;
            openedByNetwork.values().removeIf(each -> each.recent.at(nowNanos) == 0);
            openedByNetwork.values().forEach(each -> each.inSecond = 0);
        }
    }

    /** What an address may fill a total up to. */
    private long most(ClientLimit total, boolean hasFew) {
        long most = guard.limits().most(total);
        return hasFew || !limitsAddresses() ? most : most - most / KEPT_PART;
    }

    private String keptFor(boolean hasFew, String few) {
        return hasFew || !limitsAddresses()
                ? ""
                : "; one in " + KEPT_PART + " is kept for addresses with fewer than " + few;
    }

    /** Not where many clients may share one address. */
    private boolean limitsAddresses() {
        return guard.limits().configured(ClientLimit.SESSIONS_OF_ADDRESS) > 0;
    }

    /** Half of what is opened in a second, and one at least: a stranger leaves the others the other half. */
    private long shareOfAddress() {
        long most = guard.limits().most(ClientLimit.SESSIONS_PER_SECOND);
        return most - most / 2;
    }

    /**
     * A new session is given to the log. It counts until that has {@linkplain #applied applied} it, or it is known that
     * it will {@linkplain #notOpened not}: else many could come in while the log is slow.
     */
    void opening(long sessionId, @Nullable InetAddress address) {
        Optional<InetAddress> network = Optional.ofNullable(address).map(HostNetwork::of);
        opening.put(sessionId, network);
        network.ifPresent(this::enter);
    }

    /** The log has given a new session up, or was never given it, or a state came that may have it. */
    void notOpened(long sessionId) {
        Optional<InetAddress> network = opening.remove(sessionId);
        if (network != null) {
            network.ifPresent(this::leave);
        }
    }

    /** On the log's thread, before any loop hears of the step. */
    void applied(Step step) {
        if (step.origin() instanceof ConnectionProposal proposal) {
            if (proposal.change() instanceof Change.OpenSession open) {
                notOpened(open.id());
            }
            InetAddress address = proposal.address();
            if (step.applied().result() instanceof Result.SessionAttached attached && address != null) {
                add(attached.session().id(), HostNetwork.of(address));
            }
        }
        if (step.applied().result() instanceof Result.SessionClosed closed) {
            remove(closed.sessionId());
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
            enter(network);
        }
    }

    private void remove(long sessionId) {
        InetAddress network = networks.remove(sessionId);
        if (network != null) {
            leave(network);
        }
    }

    private void enter(InetAddress network) {
        byNetwork.merge(network, 1, Integer::sum);
    }

    private void leave(InetAddress network) {
        byNetwork.computeIfPresent(network, (key, count) -> count == 1 ? null : count - 1);
    }
}
