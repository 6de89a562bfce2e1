package io.conclave.testkit.history;

import io.conclave.testkit.history.StoreOperation.Kind;
import io.conclave.testkit.history.StoreOperation.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Records what clients asked of a store of znodes and what they were told, for {@link StoreHistoryChecker}.
 * Thread-safe; nothing blocks for long.
 *
 * <p>To keep the record honest, record a request before it is submitted, and an answer or event when it has come, on
 * the session's dispatcher: a session's answers and events are recorded in the order in which it got them. Every value
 * is written only once; {@link #nextValue} gives them.
 */
public final class StoreHistory {
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private final List<StoreOperation> operations = new ArrayList<>();
    private final Map<String, Long> lostAt = new HashMap<>();
    private final List<String> otherViolations = new ArrayList<>();
    private long position;
    private long value;
    private long answeredWrites;

    /** An empty history. */
    public StoreHistory() {}

    /** A value that was not given before. */
    public long nextValue() {
        synchronized (lock) {
            return ++value;
        }
    }

    /**
     * A session is about to submit a request; the value is ignored for reads, the path of a creation is the parent's.
     */
    public StoreOperation submitted(Kind kind, String session, String path, long newValue) {
        synchronized (lock) {
            StoreOperation operation = new StoreOperation(kind, session, path, newValue, ++position);
            operations.add(operation);
            return operation;
        }
    }

    /** A set was acknowledged. */
    public void wrote(StoreOperation operation, long mzxid, int version) {
        synchronized (lock) {
            end(operation, Outcome.ANSWERED);
            operation.zxid = mzxid;
            operation.version = version;
            answeredWrites++;
        }
    }

    /** A creation was acknowledged with this path. */
    public void created(StoreOperation operation, String path, long czxid) {
        synchronized (lock) {
            wrote(operation, czxid, 0);
            operation.path = path;
        }
    }

    /** A read was answered. */
    public void read(StoreOperation operation, long foundValue, long mzxid, int version) {
        synchronized (lock) {
            end(operation, Outcome.ANSWERED);
            operation.value = foundValue;
            operation.zxid = mzxid;
            operation.version = version;
        }
    }

    /** The event of a watch came. */
    public void fired(StoreOperation watch) {
        synchronized (lock) {
            if (watch.hasFired()) {
                otherViolations.add(watch + " fired twice");
            }
            watch.firedAt = ++position;
        }
    }

    /** No answer came and none will. */
    public void unknown(StoreOperation operation) {
        synchronized (lock) {
            end(operation, Outcome.UNKNOWN);
        }
    }

    /** The request was refused, and surely not applied. */
    public void refused(StoreOperation operation) {
        synchronized (lock) {
            end(operation, Outcome.REFUSED);
        }
    }

    /** A session is gone, and its watches with it. */
    public void lost(String session) {
        synchronized (lock) {
            lostAt.put(session, ++position);
        }
    }

    /** Something else was seen that must not be; the checker reports it as it is. */
    public void violated(String what) {
        synchronized (lock) {
            otherViolations.add(what);
        }
    }

    private void end(StoreOperation operation, Outcome outcome) {
        operation.outcome = outcome;
        operation.endedAt = ++position;
    }

    /** How many writes were acknowledged so far. */
    public long answeredWrites() {
        synchronized (lock) {
            return answeredWrites;
        }
    }

    /** How many watches have fired so far. */
    public long watchesFired() {
        synchronized (lock) {
            return operations.stream().filter(StoreOperation::hasFired).count();
        }
    }

    /** How many requests there are of this outcome. */
    public long count(Outcome outcome) {
        synchronized (lock) {
            return operations.stream()
                    .filter(operation -> operation.outcome == outcome)
                    .count();
        }
    }

    /**
     * Whether every watch has fired whose znode has a later change than the watch saw, by the last change of each path.
     */
    public boolean allWatchesFired(Map<String, Long> lastZxids) {
        synchronized (lock) {
            return operations.stream().noneMatch(watch -> isOverdue(watch, path -> lastZxids.getOrDefault(path, 0L)));
        }
    }

    private boolean isOverdue(StoreOperation watch, ToLongFunction<String> lastZxid) {
        return watch.kind == Kind.WATCH
                && watch.isAnswered()
                && !watch.hasFired()
                && !lostAt.containsKey(watch.session)
                && lastZxid.applyAsLong(watch.path) > watch.zxid;
    }

    List<StoreOperation> operations() {
        synchronized (lock) {
            return List.copyOf(operations);
        }
    }

    List<String> otherViolations() {
        synchronized (lock) {
            return List.copyOf(otherViolations);
        }
    }

    boolean isLost(String session) {
        synchronized (lock) {
            return lostAt.containsKey(session);
        }
    }
}
