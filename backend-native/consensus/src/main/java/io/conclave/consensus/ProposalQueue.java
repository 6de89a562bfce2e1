package io.conclave.consensus;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Where proposals wait: any thread puts in without blocking, the log's thread takes out. Bounded in entries and bytes.
 *
 * <p>Once {@link #end} was called nothing is taken in any more: an item that raced with it is withdrawn by the thread
 * that put it in or swept up by the log's thread, by exactly one of them.
 */
final class ProposalQueue {

    /** What waits: a proposal with its payload, a read barrier, or a piece of work for the log itself. */
    static final class Item {
        final @Nullable CommittedEntry entry;
        final @Nullable Runnable action;

        private Item(@Nullable CommittedEntry entry, @Nullable Runnable action) {
            this.entry = entry;
            this.action = action;
        }

        int bytes() {
            return entry == null ? 0 : entry.payload().length;
        }
    }

    private final int maxEntries;
    private final long maxBytes;
    private final Queue<Item> items = new ConcurrentLinkedQueue<>();
    private final Queue<Runnable> controls = new ConcurrentLinkedQueue<>();
    private final AtomicInteger entries = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private volatile boolean open;
    private volatile @Nullable Thread parked;

    ProposalQueue(int maxEntries, long maxBytes) {
        this.maxEntries = maxEntries;
        this.maxBytes = maxBytes;
    }

    /** Begins to take items in. */
    void begin() {
        open = true;
    }

    /** Takes nothing in any more. */
    void end() {
        open = false;
    }

    boolean offer(CommittedEntry entry) {
        return offer(new Item(entry, null));
    }

    boolean offer(Runnable action) {
        return offer(new Item(null, action));
    }

    private boolean offer(Item item) {
        if (!open || !reserve(item)) {
            return false;
        }
        items.add(item);
        if (!open && items.remove(item)) {
            release(item);
            return false;
        }
        wake();
        return true;
    }

    private boolean reserve(Item item) {
        if (entries.incrementAndGet() > maxEntries) {
            entries.decrementAndGet();
            return false;
        }
        if (bytes.addAndGet(item.bytes()) > maxBytes) {
            release(item);
            return false;
        }
        return true;
    }

    private void release(Item item) {
        entries.decrementAndGet();
        bytes.addAndGet(-item.bytes());
    }

    /** Hands work to the log's thread, past the bounds; done before what waits in the queue. */
    void control(Runnable work) {
        controls.add(work);
        wake();
    }

    /** Log thread: the next piece of work for the log itself. */
    @Nullable
    Runnable pollControl() {
        return controls.poll();
    }

    /** Log thread: what comes next, left in place. */
    @Nullable
    Item peek() {
        return items.peek();
    }

    /** Log thread: takes what comes next. */
    @Nullable
    Item poll() {
        Item item = items.poll();
        if (item != null) {
            release(item);
        }
        return item;
    }

    private void wake() {
        Thread sleeper = parked;
        if (sleeper != null) {
            parked = null;
            LockSupport.unpark(sleeper);
        }
    }

    /** Log thread: sleeps until there may be something to do; returns at once if there is. */
    void await(boolean controlsOnly) {
        parked = Thread.currentThread();
        if (controls.isEmpty() && (controlsOnly || items.isEmpty())) {
            LockSupport.park(this);
        }
        parked = null;
    }
}
