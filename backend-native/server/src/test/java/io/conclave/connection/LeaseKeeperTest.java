package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LeaseKeeperTest {
    private static final int TIMEOUT_MS = 3000;
    private static final Duration THIRD = Duration.ofMillis(TIMEOUT_MS / 3);

    private final ManualTimeSource time = new ManualTimeSource();
    private boolean waits = true;
    private boolean lives = true;
    private int touches;
    private final LeaseKeeper keeper = new LeaseKeeper(time, Runnable::run, () -> waits, () -> {
        touches++;
        return lives;
    });

    @Test
    void theLeaseIsTouchedThriceInASessionTimeoutAsLongAsTheConnectionIsHeldUp() {
        keeper.keep(TIMEOUT_MS);
        assertEquals(1, touches);
        for (int i = 0; i < 5; i++) {
            time.advance(THIRD);
        }
        assertEquals(6, touches);
        waits = false;
        time.advance(THIRD);
        time.advance(THIRD);
        assertEquals(6, touches);
    }

    @Test
    void twoReasonsAtATimeTouchItAsOftenAsOne() {
        keeper.keep(TIMEOUT_MS);
        keeper.keep(TIMEOUT_MS);
        time.advance(THIRD);
        assertEquals(2, touches);
    }

    @Test
    void aSessionThatHasExpiredIsNotTouchedAgain() {
        lives = false;
        keeper.keep(TIMEOUT_MS);
        time.advance(THIRD);
        assertEquals(1, touches);
    }

    @Test
    void aConnectionThatIsHeldUpAgainIsKeptAgain() {
        keeper.keep(TIMEOUT_MS);
        waits = false;
        time.advance(THIRD);
        waits = true;
        keeper.keep(TIMEOUT_MS);
        time.advance(THIRD);
        assertEquals(3, touches);
    }
}
