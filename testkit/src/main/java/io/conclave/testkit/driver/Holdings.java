package io.conclave.testkit.driver;

import io.conclave.grant.FencingToken;
import io.conclave.testkit.history.LockEvent;
import io.conclave.testkit.history.LockHistory;
import io.conclave.testkit.history.LockHistoryChecker;
import io.conclave.time.TimeSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the actors of a run hold. Two that exclude each other must never both say that they are held, and exclusive
 * grants must make a history of a lock for each resource.
 *
 * <p>What the server has taken away counts as ended when it was taken: an operator's deletion frees the lock at once,
 * and until the former holder learns of it only the token protects. That it learns of it is checked by
 * {@link Holding#checkAtRest}.
 */
final class Holdings {
    private final TimeSource time;
    private final int permits;
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private final List<Holding> current = new ArrayList<>();
    private final Map<String, LockHistory> histories = new LinkedHashMap<>();
    private final List<String> conflicts = new ArrayList<>();
    private final Set<Long> deleted = new HashSet<>();
    private final Set<Long> ended = new HashSet<>();
    private int granted;

    Holdings(TimeSource time, int permits) {
        this.time = time;
        this.permits = permits;
    }

    void granted(Holding holding) {
        synchronized (lock) {
            granted++;
            if (mayBeDeleted(holding) || ended.stream().anyMatch(holding::isOf)) {
                return; // taken away while the grant was on its way to its caller: others may have been
                // granted by now
            }
            holding.claim()
                    .token()
                    .filter(token -> holding.kind() == Holding.Kind.EXCLUSIVE)
                    .ifPresent(token -> record(holding, token));
            current.add(holding);
            checkConflicts(holding);
        }
    }

    /** Of a holding without a token it is not known which znode is behind it. */
    private boolean mayBeDeleted(Holding holding) {
        boolean isTold = holding.claim().token().isPresent();
        return isTold
                ? deleted.stream().anyMatch(holding::isOf)
                : holding.actor().isVictim() && !deleted.isEmpty();
    }

    private void record(Holding holding, FencingToken token) {
        historyOf(holding).granted(holding.name(), token, holding.claim().remaining());
    }

    private LockHistory historyOf(Holding holding) {
        return histories.computeIfAbsent(holding.resource(), resource -> new LockHistory(time));
    }

    private void checkConflicts(Holding holding) {
        if (!holding.isHeld()) {
            return; // over before anybody could rely on it
        }
        int taken = 0;
        for (Holding other : current) {
            if (!other.resource().equals(holding.resource()) || !other.isHeld()) {
                continue;
            }
            taken += other.weight();
            boolean oneIsExclusive = other.kind() == Holding.Kind.EXCLUSIVE || holding.kind() == Holding.Kind.EXCLUSIVE;
            if (other != holding && oneIsExclusive) {
                conflicts.add("two hold at the same time: " + other + " and " + holding);
            }
        }
        if (holding.kind() == Holding.Kind.PERMIT && taken > permits) {
            conflicts.add(taken + " permits of " + permits + " are held at the same time: " + current);
        }
    }

    void becomes(Holding holding, Runnable change) {
        synchronized (lock) {
            if (isRecorded(holding)) {
                historyOf(holding).released(holding.name());
            }
            change.run();
            if (current.contains(holding)) {
                checkConflicts(holding);
            }
        }
    }

    void released(Holding holding) {
        synchronized (lock) {
            if (current.remove(holding) && isRecorded(holding)) {
                historyOf(holding).released(holding.name());
            }
        }
    }

    void lost(Holding holding) {
        synchronized (lock) {
            if (current.remove(holding)) {
                historyLost(holding);
            }
        }
    }

    private void historyLost(Holding holding) {
        if (isRecorded(holding)) {
            historyOf(holding).lost(holding.name());
        }
    }

    private static boolean isRecorded(Holding holding) {
        return holding.kind() == Holding.Kind.EXCLUSIVE
                && holding.claim().token().isPresent();
    }

    /** The znode with this creation zxid was deleted by an operator. */
    void deleted(long czxid) {
        synchronized (lock) {
            deleted.add(czxid);
            List.copyOf(current).stream().filter(this::mayBeDeleted).forEach(this::lost);
        }
    }

    /** The znode with this creation zxid goes with its session. */
    void goesWithSession(long czxid) {
        synchronized (lock) {
            ended.add(czxid);
        }
    }

    /** The session of an actor has been ended by the server, and it was told. */
    void ended(Actor actor) {
        synchronized (lock) {
            List.copyOf(current).stream()
                    .filter(holding -> holding.actor() == actor)
                    .forEach(this::lost);
        }
    }

    int count() {
        synchronized (lock) {
            return granted;
        }
    }

    /** What is wrong; to be asked when the run is over. */
    List<String> violations() {
        synchronized (lock) {
            List<String> violations = new ArrayList<>(conflicts);
            histories.forEach((resource, history) ->
                    LockHistoryChecker.check(history).forEach(violation -> violations.add(violation.toString())));
            current.forEach(holding -> violations.add("never released: " + holding));
            return violations;
        }
    }

    @Override
    public String toString() {
        synchronized (lock) {
            return histories.values().stream()
                    .flatMap(history -> history.events().stream())
                    .map(LockEvent::toString)
                    .collect(Collectors.joining("\n    "));
        }
    }
}
