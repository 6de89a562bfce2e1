package io.conclave.consensus.member;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads and heartbeats that wait for a read index from the leader, and then until it is applied. */
final class PendingReads {
    private static final Logger log = LoggerFactory.getLogger(PendingReads.class);
    private static final long UNKNOWN = Long.MAX_VALUE;

    /** Actions that share one read index. */
    private static final class Waiting {
        final List<Runnable> actions;
        final long behind;
        final int bytes;
        final boolean internal;
        long index = UNKNOWN;

        Waiting(List<Runnable> actions, long behind, int bytes, boolean internal) {
            this.actions = actions;
            this.behind = behind;
            this.bytes = bytes;
            this.internal = internal;
        }
    }

    private final ProposalQueue queue;
    private final Map<Long, Waiting> byId = new HashMap<>();

    /** Those of barriers, in order; and the others, which wait for no proposals and so not for these. */
    private final Deque<Waiting> barriers = new ArrayDeque<>();

    private final Deque<Waiting> notes = new ArrayDeque<>();
    private long lastId;

    /**
     * @param seed where numbers begin: elsewhere at each start, since an answer may come to a request of the former
     *     process
     */
    PendingReads(ProposalQueue queue, long seed) {
        this.queue = queue;
        this.lastId = seed >>> 2;
    }

    /**
     * Reads that share a read index.
     *
     * @param behind the number of the own proposal that has to have its outcome before; 0 for none
     * @return the id of the request for a read index, for the core
     */
    long addBarriers(List<Runnable> actions, long behind) {
        return add(new Waiting(actions, behind, 0, false), barriers);
    }

    /** A heartbeat. */
    long addNote(Runnable action, int bytes) {
        return add(new Waiting(List.of(action), 0, bytes, false), notes);
    }

    /** One of the member's own, which did not wait in the queue; the action is given the id. */
    long addInternal(LongConsumer action) {
        long id = lastId + 1;
        return add(new Waiting(List.of(() -> action.accept(id)), 0, 0, true), notes);
    }

    private long add(Waiting waiting, Deque<Waiting> to) {
        lastId++;
        byId.put(lastId, waiting);
        to.add(waiting);
        return lastId;
    }

    void known(long id, long index) {
        Waiting waiting = byId.remove(id);
        if (waiting != null) {
            waiting.index = index;
        }
    }

    /**
     * Runs what is due.
     *
     * @param settled the own proposals up to this number have had their outcome
     */
    void run(long appliedIndex, long settled) {
        run(barriers, appliedIndex, settled);
        run(notes, appliedIndex, settled);
    }

    private void run(Deque<Waiting> waiting, long appliedIndex, long settled) {
        for (Waiting first = waiting.peek();
                first != null && first.index <= appliedIndex && first.behind <= settled;
                first = waiting.peek()) {
            waiting.remove();
            for (Runnable action : first.actions) {
                if (!first.internal) {
                    queue.release(first.bytes);
                }
                run(action);
            }
        }
    }

    private static void run(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            log.error("a read barrier's action threw", e);
        }
    }

    boolean isEmpty() {
        return barriers.isEmpty() && notes.isEmpty();
    }

    /** Gives all up; what does not run never will. */
    void clear() {
        byId.clear();
        barriers.clear();
        notes.clear();
    }
}
