package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Wall clocks that leap, and that are different from member to member. */
class ClocksTest {
    private static final Duration YEAR = Duration.ofDays(365);

    private final ManualTimeSource time = new ManualTimeSource();
    private final SteadyWallClock clock = new SteadyWallClock(time);
    private final PeerClocks peers = new PeerClocks(time);

    @Test
    void aClockThatGoesAsItShouldIsFollowed() {
        for (int i = 0; i < 100; i++) {
            assertEquals(time.wallMillis(), clock.millis());
            time.advance(Duration.ofMinutes(7));
        }
        time.advanceWallOnly(Duration.ofSeconds(50));
        assertEquals(time.wallMillis(), clock.millis());
        time.advanceWallOnly(Duration.ofHours(-2));
        assertEquals(time.wallMillis(), clock.millis());
    }

    @Test
    void aLeapOfAYearIsFollowedAtDoubleSpeedUntilTheClockIsSetRight() {
        long before = clock.millis();
        time.advanceWallOnly(YEAR);
        for (int i = 0; i < 100; i++) {
            time.advance(Duration.ofSeconds(6));
            clock.millis();
        }
        assertEquals(before + Duration.ofMinutes(20).toMillis(), clock.millis());
        time.advanceWallOnly(YEAR.negated());
        assertEquals(time.wallMillis(), clock.millis());
        time.advance(Duration.ofMinutes(11));
        assertTrue(clock.millis() > before + Duration.ofMinutes(20).toMillis());
    }

    @Test
    void aClockThatIsAheadForGoodIsReachedInTheEnd() {
        clock.millis();
        time.advanceWallOnly(Duration.ofHours(3));
        for (int i = 0; i < 180; i++) {
            time.advance(Duration.ofMinutes(1));
            clock.millis();
        }
        assertEquals(time.wallMillis(), clock.millis());
    }

    @Test
    void anotherMembersClockIsWarnedOfOnceInAWhile() {
        long now = time.wallMillis();
        assertFalse(peers.noted(2, now + 4_000));
        assertFalse(peers.noted(2, now - 200_000), "a note may have waited for a leader");
        assertTrue(peers.noted(2, now + 6_000));
        assertFalse(peers.noted(2, now + 6_000));
        assertTrue(peers.noted(3, now - YEAR.toMillis()));
        time.advance(Duration.ofMinutes(11));
        assertTrue(peers.noted(2, time.wallMillis() + 6_000));
    }

    @Test
    void aNoteCarriesTheClockOnlyWhereAllCanReadIt() {
        HeartbeatNote note = new HeartbeatNote(2, new long[] {5, 6});
        assertEquals(0, HeartbeatNote.decode(note.encode()).wallMs());
        assertEquals(1, note.encode()[0]);
        HeartbeatNote read = HeartbeatNote.decode(note.at(77).encode());
        assertEquals(77, read.wallMs());
        assertEquals(2, read.featureLevel());
        assertArrayEquals(new long[] {5, 6}, read.sessionIds());
    }
}
