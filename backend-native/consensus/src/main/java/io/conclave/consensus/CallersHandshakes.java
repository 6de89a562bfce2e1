package io.conclave.consensus;

import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
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

    /** Of clients, of which many may share an address: an address has twice the places that are left of these. */
    static final int MOST_OF_CLIENTS = 640;

    /** With the first ones of addresses. Fewer than may be half open, where the oldest of an address gives way. */
    static final int MOST_OF_CLIENTS_WITH_FIRSTS = 768;

    /** Whether one more may wait to begin. */
    private interface Room {
        boolean isThere(int beginning, int ofAddress);
    }

    private final Executor threads;
    private final int mostAtATime;
    private final Room room;

    // Both: @GuardedBy("this").
    private final AddressLines<Runnable> lines = new AddressLines<>();
    private int running;

    private CallersHandshakes(Executor threads, int mostAtATime, Room room) {
        this.threads = threads;
        this.mostAtATime = mostAtATime;
        this.room = room;
    }

    /**
     * Lines of members and strangers, in which nothing waits.
     *
     * @param threads runs the computations
     * @param mostAtATime so many of them
     */
    public CallersHandshakes(Executor threads, int mostAtATime) {
        this(
                threads,
                mostAtATime,
                (beginning, ofAddress) ->
                        ofAddress < MOST_OF_AN_ADDRESS && beginning < (ofAddress == 0 ? 2 * MOST : MOST));
    }

    /** The same of clients. An address that is alone has 427 places, another one beside it 142. */
    public static CallersHandshakes ofClients(Executor threads, int mostAtATime) {
        return new CallersHandshakes(
                threads,
                mostAtATime,
                (beginning, ofAddress) -> ofAddress == 0
                        ? beginning < MOST_OF_CLIENTS_WITH_FIRSTS
                        : ofAddress < 2 * (MOST_OF_CLIENTS - beginning));
    }

    /**
     * What runs the computations of one connection. It refuses the first one if there is no room; what follows is taken
     * always, so that no work is wasted: a connection has one at a time.
     *
     * @param host the address as a number; those of one {@linkplain HostNetwork network} have one line
     */
    public Executor of(String host) {
        String address = HostNetwork.of(host);
        AtomicBoolean hasBegun = new AtomicBoolean();
        return work -> {
            add(address, work, !hasBegun.get());
            hasBegun.set(true);
        };
    }

    private void add(String address, Runnable work, boolean begins) {
        synchronized (this) {
            if (!begins) {
                lines.addFurther(address, work);
            } else if (room.isThere(lines.count(), lines.count(address))) {
                lines.add(address, work);
            } else {
                throw new RejectedExecutionException(lines.count() + " handshakes of callers wait, "
                        + lines.count(address) + " of them of " + address);
            }
            if (running == mostAtATime) {
                return;
            }
            running++;
        }
        try {
            threads.execute(this::runAll);
        } catch (RuntimeException | Error e) {
            synchronized (this) {
                running--; // no thread could be made; the next one tries again
            }
            throw e;
        }
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
        Optional<Runnable> work = lines.next();
        if (work.isEmpty()) {
            running--;
        }
        return work.orElse(null);
    }
}
