package io.conclave.connection;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class FeedTest {
    @Test
    void everyWalkerMeetsEveryEntry() {
        Feed feed = new Feed(2, () -> {});
        Feed.Entry slow = feed.first();
        Feed.Entry fast = feed.first();
        feed.batch(List.of());
        feed.batch(List.of());
        fast = fast.leave();
        assertNotNull(fast);
        Feed.Entry second = fast.leave();
        assertNotNull(second);
        assertNull(second.leave());
        slow = slow.leave();
        assertSame(fast, slow);
        assertSame(second, slow.leave());
    }

    @Test
    void anEntryThatAllHaveLeftDoesNotKeepItsSuccessors() {
        Feed feed = new Feed(2, () -> {});
        Feed.Entry first = feed.first();
        feed.batch(List.of());
        first.leave();
        assertTrue(first.hasNext());
        first.leave();
        assertFalse(first.hasNext());
    }

    @Test
    void aReaderAtTheEndContinuesWhenThereIsMore() {
        Feed feed = new Feed(1, () -> {});
        Feed.Entry end = feed.first();
        assertNull(end.leave());
        assertNull(end.leave());
        feed.batch(List.of());
        assertNotNull(end.leave());
        assertFalse(end.hasNext());
    }

    /** It may hold a request of 1 MB, and the other loop may sleep for long. */
    @Test
    void aTaskIsNotKeptForAnotherLoopWhenItsOwnHasDoneIt() {
        LoneLoop own = new LoneLoop();
        Feed feed = new Feed(2, () -> {});
        Feed.Entry asleep = feed.first();
        WeakReference<byte[]> held = taskWith(feed, own.loop);
        Feed.Entry entry = Objects.requireNonNull(feed.first().leave());
        entry.runTask(own.loop);
        await().until(() -> {
            System.gc();
            return held.get() == null;
        });
        assertSame(entry, asleep.leave());
    }

    private static WeakReference<byte[]> taskWith(Feed feed, Loop loop) {
        byte[] request = new byte[1000];
        feed.task(loop, () -> assertNotNull(request));
        return new WeakReference<>(request);
    }

    @Test
    void aLoopThatSleepsIsWokenWhenManyTasksOfOthersAreAheadOfIt() {
        AtomicInteger woken = new AtomicInteger();
        LoneLoop other = new LoneLoop();
        Feed feed = new Feed(2, woken::incrementAndGet);
        for (int i = 0; i < 10 * (Feed.MOST_TASKS_AHEAD + 1); i++) {
            feed.task(other.loop, () -> {});
        }
        assertEquals(10, woken.get());
    }
}
