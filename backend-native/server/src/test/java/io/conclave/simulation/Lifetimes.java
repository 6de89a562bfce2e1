package io.conclave.simulation;

import io.conclave.consensus.CommittedEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.replica.Step;
import io.conclave.tree.Change;
import io.conclave.tree.ChangeCodec;
import io.conclave.tree.Result;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.TreeOperation;
import io.conclave.tree.ZnodeKind;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;

/**
 * The containers and the znodes with a time to live, followed from outside of the tree: what the reaper may delete by
 * the time of the log, and what it has to.
 */
final class Lifetimes {
    /** Such a znode is deleted by clients only. */
    static final long LONGER_THAN_A_RUN_MS = 1_000_000;

    private static final class Lifetime {
        /** 0 for a container. */
        final long ttlMs;

        long changedMs;
        int children;
        boolean isUsed;

        Lifetime(long ttlMs, long changedMs) {
            this.ttlMs = ttlMs;
            this.changedMs = changedMs;
        }

        boolean isOver(long nowMs, long maxNeverUsedMs) {
            long unchangedMs = nowMs - changedMs;
            if (children > 0) {
                return false;
            }
            if (ttlMs > 0) {
                return unchangedMs > ttlMs;
            }
            return isUsed || (maxNeverUsedMs > 0 && unchangedMs > maxNeverUsedMs);
        }

        boolean mayStay() {
            return children > 0 || ttlMs >= LONGER_THAN_A_RUN_MS || (ttlMs == 0 && !isUsed);
        }

        String kind() {
            if (ttlMs > 0) {
                return "znode with a TTL";
            }
            return isUsed ? "container" : "container that was never used";
        }

        @Override
        public String toString() {
            return kind() + (ttlMs > 0 ? " of " + ttlMs + " ms" : "") + ", of " + changedMs + " ms, with " + children
                    + " children";
        }
    }

    private final Trace trace;
    private final Map<String, Lifetime> lifetimes = new TreeMap<>();
    private long nowMs;

    Lifetimes(Trace trace) {
        this.trace = trace;
    }

    /** Whether the entry has to do with such znodes. */
    static boolean decide(CommittedEntry entry) {
        if (entry.kind() != LogEntryKind.APPLICATION) {
            return false;
        }
        Change change = ChangeCodec.decode(ByteBuffer.wrap(entry.payload()));
        return change instanceof Change.DeleteContainer
                || (change instanceof Change.Request request
                        && (request.operation() instanceof TreeOperation.Create create
                                        && (create.mode().hasTtl() || create.mode() == ZnodeKind.CONTAINER)
                                || request.operation() instanceof TreeOperation.SetData set
                                        && set.path().startsWith(Workload.TIMED)));
    }

    /** The time of the log, which never decreases. */
    void timeIs(long timestampMs) {
        nowMs = Math.max(nowMs, timestampMs);
    }

    void stepped(Step step) {
        Result result = step.applied().result();
        if (step.change() instanceof Change.DeleteContainer delete) {
            check(delete, result);
        }
        for (TreeEvent event : step.applied().events()) {
            happened(event);
        }
        if (step.change() instanceof Change.Request request
                && request.operation() instanceof TreeOperation.Create create
                && result instanceof Result.Created created
                && (create.mode().hasTtl() || create.mode() == ZnodeKind.CONTAINER)) {
            lifetimes.put(created.path(), new Lifetime(create.ttlMs(), nowMs));
        }
    }

    private void check(Change.DeleteContainer delete, Result result) {
        Lifetime lifetime = lifetimes.get(delete.path());
        boolean isOver = lifetime != null && lifetime.isOver(nowMs, delete.maxNeverUsedMs());
        if (isOver != result instanceof Result.Deleted) {
            throw new Violation("at " + nowMs + " ms the reaper's " + delete + " comes to " + result + ": " + lifetime);
        }
        trace.count(isOver ? "deleted by the reaper: " + lifetime.kind() : "saved from the reaper");
    }

    private void happened(TreeEvent event) {
        Lifetime parent = lifetimes.get(event.path().substring(0, event.path().lastIndexOf('/')));
        switch (event.type()) {
            case CREATED -> {
                if (parent != null) {
                    parent.children++;
                    parent.isUsed = true;
                }
            }
            case DELETED -> {
                lifetimes.remove(event.path());
                if (parent != null) {
                    parent.children--;
                }
            }
            case DATA_CHANGED -> {
                Lifetime lifetime = lifetimes.get(event.path());
                if (lifetime != null) {
                    lifetime.changedMs = nowMs;
                }
            }
            default -> {}
        }
    }

    /**
     * Whether all is gone that has to, now that no client creates or keeps such znodes any more.
     *
     * @param timePasses whether the log's time will go on soon; else only what is over by now has to be gone
     */
    boolean isNothingLeft(boolean timePasses) {
        return lifetimes.values().stream()
                .allMatch(lifetime -> timePasses ? lifetime.mayStay() : !lifetime.isOver(nowMs, 0));
    }

    @Override
    public String toString() {
        return "at " + nowMs + " ms " + lifetimes;
    }
}
