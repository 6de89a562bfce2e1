package io.conclave.consensus;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Computes the handshakes of callers. Each address has a line of its own, and the lines take turns: so a member, or a
 * client, waits for one computation of each address from which strangers call, however many connections these make.
 * Thread-safe.
 */
public final class CallersHandshakes {
    private static final Logger LOG = LoggerFactory.getLogger(CallersHandshakes.class);

    /** Computations of one address that may wait. A member has one at a time. */
    static final int MOST_OF_AN_ADDRESS = 64;

    /** Those of all addresses; beyond it the first one of an address is taken, up to as many again. */
    static final int MOST = 2048;

    /** The same of clients, of which many may share an address. */
    static final int MOST_OF_CLIENTS = 512;

    /**
     * With the first ones of addresses. Fewer than may be half open at the port of clients, where the oldest is closed
     * to make room.
     */
    static final int MOST_OF_CLIENTS_WITH_FIRSTS = 768;

    private final Executor threads;
    private final int mostAtATime;
    private final int mostOfAnAddress;
    private final int most;
    private final int mostWithFirsts;

    // All: @GuardedBy("this").
    /** Only those in which something waits; the one whose turn it is comes first. */
    private final Map<String, Queue<Runnable>> lines = new LinkedHashMap<>();

    private int waiting;
    private int running;

    private CallersHandshakes(Executor threads, int mostAtATime, int mostOfAnAddress, int most, int mostWithFirsts) {
        this.threads = threads;
        this.mostAtATime = mostAtATime;
        this.mostOfAnAddress = mostOfAnAddress;
        this.most = most;
        this.mostWithFirsts = mostWithFirsts;
    }

    /**
     * Lines of members and strangers, in which nothing waits.
     *
     * @param threads runs the computations
     * @param mostAtATime so many of them
     */
    public CallersHandshakes(Executor threads, int mostAtATime) {
        this(threads, mostAtATime, MOST_OF_AN_ADDRESS, MOST, 2 * MOST);
    }

    /** The same of clients. */
    public static CallersHandshakes ofClients(Executor threads, int mostAtATime) {
        return new CallersHandshakes(
                threads, mostAtATime, MOST_OF_CLIENTS, MOST_OF_CLIENTS, MOST_OF_CLIENTS_WITH_FIRSTS);
    }

    /**
     * What runs the computations of an address; it refuses those for which there is no room.
     *
     * @param host the address as a number; those of one {@linkplain HostNetwork network} have one line
     */
    public Executor of(String host) {
        String address = HostNetwork.of(host);
        return work -> add(address, work);
    }

    private void add(String address, Runnable work) {
        synchronized (this) {
            Queue<Runnable> line = lines.get(address);
            int ofAddress = line == null ? 0 : line.size();
            if (ofAddress >= mostOfAnAddress || waiting >= (ofAddress == 0 ? mostWithFirsts : most)) {
                throw new RejectedExecutionException(
                        waiting + " handshakes of callers wait, " + ofAddress + " of them of " + address);
            }
            lines.computeIfAbsent(address, none -> new ArrayDeque<>()).add(work);
            waiting++;
            if (running == mostAtATime) {
                return;
            }
            running++;
        }
        threads.execute(this::runAll);
    }

    private void runAll() {
        for (Runnable work = next(); work != null; work = next()) {
            try {
                work.run();
            } catch (RuntimeException | Error e) {
                LOG.error("The handshake of a caller cannot be computed", e);
            }
        }
    }

    /** Null, and one less is running, if nothing waits. */
    private synchronized @Nullable Runnable next() {
        Iterator<Map.Entry<String, Queue<Runnable>>> inTurn = lines.entrySet().iterator();
        if (!inTurn.hasNext()) {
            running--;
            return null;
        }
        Map.Entry<String, Queue<Runnable>> first = inTurn.next();
        String address = first.getKey();
        Queue<Runnable> line = first.getValue();
        inTurn.remove();
        Runnable work = line.remove();
        waiting--;
        if (!line.isEmpty()) {
            lines.put(address, line); // behind all others
        }
        return work;
    }
}
