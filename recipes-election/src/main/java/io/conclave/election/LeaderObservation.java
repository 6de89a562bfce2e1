package io.conclave.election;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Registration;
import io.conclave.node.NodePath;
import io.conclave.spi.SerialExecutor;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells one listener who leads, through all sessions of a coordinator: a {@link LeaderWatch} for each session, and the newest of what they saw.
 *
 * <p>{@code lock} guards the state; nothing blocks while it is held.
 */
final class LeaderObservation implements Registration {
    private static final Logger LOG = LoggerFactory.getLogger(LeaderObservation.class);

    private final Coordinator coordinator;
    private final NodePath path;
    private final Consumer<Optional<Leader>> listener;
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private @Nullable LeaderWatch watch;
    private @Nullable Seen newest;
    private @Nullable Seen told;
    private boolean telling;
    private boolean closed;

    /**
     * A state that was seen.
     *
     * @param czxid the creation of the acknowledgement; -1 if there is none
     */
    record Seen(long czxid, Optional<Leader> leader) {
        static final Seen NOBODY = new Seen(-1, Optional.empty());
    }

    LeaderObservation(Coordinator coordinator, NodePath election, Consumer<Optional<Leader>> listener) {
        this.coordinator = coordinator;
        this.path = election.child(Acknowledgement.NAME);
        this.listener = listener;
    }

    /** Begins with the coordinator's present session. Never blocks. */
    void begin() {
        follow(coordinator.recipeSession());
    }

    private void follow(RecipeSession session) {
        LeaderWatch next = new LeaderWatch(this, session, path);
        synchronized (lock) {
            if (closed) {
                return;
            }
            watch = next;
        }
        next.begin();
    }

    /** The session of a watch is lost. What was told last stays until the next session knows better. */
    void onSessionLost(LeaderWatch lost) {
        synchronized (lock) {
            if (watch != lost) {
                return;
            }
        }
        LOG.debug("{}: observing again on the next session", path);
        follow(coordinator.recipeSession());
    }

    /** A watch has seen this. */
    void onSeen(LeaderWatch by, Seen seen) {
        synchronized (lock) {
            if (closed || watch != by) {
                return;
            }
            newest = seen;
            if (telling) {
                return; // the one that tells looks again when it is done
            }
            telling = true;
        }
        RecipeSession session = by.session();
        new SerialExecutor("observer of " + path, session.listenerExecutor(), session.time()).execute(this::tell);
    }

    private void tell() {
        for (Optional<Seen> next = next(); next.isPresent(); next = next()) {
            try {
                listener.accept(next.get().leader());
            } catch (RuntimeException | Error e) {
                LOG.error("Observer {} of {} failed", listener, path, e);
            }
        }
    }

    private Optional<Seen> next() {
        synchronized (lock) {
            Seen next = newest;
            if (closed || next == null || (told != null && told.czxid == next.czxid)) {
                telling = false;
                return Optional.empty();
            }
            told = next;
            return Optional.of(next);
        }
    }

    @Override
    public void close() {
        LeaderWatch last;
        synchronized (lock) {
            closed = true;
            last = watch;
            watch = null;
        }
        if (last != null) {
            last.end();
        }
    }

    @Override
    public String toString() {
        synchronized (lock) {
            return "LeaderObservation[" + path + ", " + (newest == null ? "not known yet" : newest.leader)
                    + (closed ? ", closed" : "") + "]";
        }
    }
}
