package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class FeedTest {
    @Test
    void everyWalkerMeetsEveryEntry() {
        Feed feed = new Feed(2);
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
        Feed feed = new Feed(2);
        Feed.Entry first = feed.first();
        feed.batch(List.of());
        first.leave();
        assertTrue(first.hasNext());
        first.leave();
        assertFalse(first.hasNext());
    }

    @Test
    void aReaderAtTheEndContinuesWhenThereIsMore() {
        Feed feed = new Feed(1);
        Feed.Entry end = feed.first();
        assertNull(end.leave());
        assertNull(end.leave());
        feed.batch(List.of());
        assertNotNull(end.leave());
        assertFalse(end.hasNext());
    }
}
