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
 * Computes the handshakes of callers. Each address has a line of its own, and the lines take turns: so a member that
 * calls waits for one computation of each address from which strangers call, however many connections these make.
 * Thread-safe.
 */
public final class CallersHandshakes {
    private static final Logger LOG = LoggerFactory.getLogger(CallersHandshakes.class);

    /** Computations of one address that may wait. A member has one at a time. */
    static final int MOST_OF_AN_ADDRESS = 64;

    /** Those of all addresses; beyond it the first one of an address is taken, up to as many again. */
    static final int MOST = 2048;

    private final Executor threads;
    private final int mostAtATime;

    // All: @GuardedBy("this").
    /** Only those in which something waits; the one whose turn it is comes first. */
    private final Map<String, Queue<Runnable>> lines = new LinkedHashMap<>();

    private int waiting;
    private int running;

    /**
     * Lines in which nothing waits.
     *
     * @param threads runs the computations
     * @param mostAtATime so many of them
     */
    public CallersHandshakes(Executor threads, int mostAtATime) {
        this.threads = threads;
        this.mostAtATime = mostAtATime;
    }

    /** What runs the computations of an address; it refuses those for which there is no room. */
    public Executor of(String address) {
        return work -> add(address, work);
    }

    private void add(String address, Runnable work) {
        synchronized (this) {
            Queue<Runnable> line = lines.get(address);
            int ofAddress = line == null ? 0 : line.size();
            if (ofAddress >= MOST_OF_AN_ADDRESS || waiting >= (ofAddress == 0 ? 2 * MOST : MOST)) {
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
