package io.conclave.consensus.member;

import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.entry.LogEntryKind;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where proposals and reads wait: any thread puts in without blocking, the member's thread takes out. Bounded in
 * entries and bytes, counted until their outcome is known.
 *
 * <p>Once {@link #end} was called nothing is taken in any more: an item that raced with it is withdrawn by the thread
 * that put it in or swept up by the member's thread, by exactly one of them.
 */
final class ProposalQueue {
    private static final Logger log = LoggerFactory.getLogger(ProposalQueue.class);

    /** What waits. */
    sealed interface Item {
        /** The bytes that it counts for. */
        int bytes();
    }

    /**
     * A proposal with its payload.
     *
     * @param leadingTerm in which this member led when it was put in; 0 if it did not
     */
    record Proposed(LogEntryKind kind, byte[] payload, Proposal proposal, long leadingTerm) implements Item {
        @Override
        public int bytes() {
            return payload.length;
        }
    }

    /**
     * A read or a heartbeat.
     *
     * @param note for the leader's application; empty for none
     * @param barrier whether it waits for what was proposed here before it
     */
    record Read(byte[] note, boolean barrier, Runnable action) implements Item {
        @Override
        public int bytes() {
            return note.length;
        }
    }

    private final int maxEntries;
    private final long maxBytes;
    private final Runnable wake;
    private final Queue<Item> items = new ConcurrentLinkedQueue<>();
    private final Queue<Runnable> controls = new ConcurrentLinkedQueue<>();
    private final AtomicInteger entries = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private volatile boolean open;
    private volatile long leadingTerm;

    /** @param wake called after something was put in, by the thread that did it */
    ProposalQueue(int maxEntries, long maxBytes, Runnable wake) {
        this.maxEntries = maxEntries;
        this.maxBytes = maxBytes;
        this.wake = wake;
    }

    /** Begins to take items in. */
    void begin() {
        open = true;
    }

    /** Takes nothing in any more. */
    void end() {
        open = false;
    }

    /** Member's thread: the application hears next that this member leads in the term; 0 for not any more. */
    void leads(long term) {
        leadingTerm = term;
    }

    /** The term in which this member leads, as far as its application was told; 0 if it does not. */
    long leadingTerm() {
        return leadingTerm;
    }

    boolean offer(Item item) {
        if (!open || !reserve(item)) {
            return false;
        }
        items.add(item);
        if (!open && items.remove(item)) {
            release(item.bytes());
            return false;
        }
        wake.run();
        return true;
    }

    private boolean reserve(Item item) {
        if (entries.incrementAndGet() > maxEntries) {
            entries.decrementAndGet();
            return false;
        }
        if (bytes.addAndGet(item.bytes()) > maxBytes) {
            release(item.bytes());
            return false;
        }
        return true;
    }

    /** Gives back the room of an item that was taken out and has had its outcome. */
    void release(int itemBytes) {
        entries.decrementAndGet();
        bytes.addAndGet(-itemBytes);
    }

    /** Tells a proposal that was taken out that it is certainly not applied, and gives back its room. */
    void reject(Proposed proposed, Rejection reason) {
        release(proposed.bytes());
        try {
            proposed.proposal().rejected(reason);
        } catch (RuntimeException e) {
            log.error("the handler of a rejected proposal threw", e);
        }
    }

    /** Hands work to the member's thread, past the bounds; done before what waits in the queue. */
    void control(Runnable work) {
        controls.add(work);
        wake.run();
    }

    /** Member's thread: the next piece of work for the member itself. */
    @Nullable
    Runnable pollControl() {
        return controls.poll();
    }

    /** Member's thread: what comes next, left in place. */
    @Nullable
    Item peek() {
        return items.peek();
    }

    /** Member's thread: takes what comes next. Its room is kept until {@link #release}. */
    @Nullable
    Item poll() {
        return items.poll();
    }

    /** Whether there is nothing to take out. */
    boolean isEmpty() {
        return controls.isEmpty() && items.isEmpty();
    }
}
