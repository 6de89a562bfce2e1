package io.conclave.ensemble;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PausableTimeTest {
    private final ManualTimeSource clocks = new ManualTimeSource();
    private final PausableTime time = new PausableTime(clocks);
    private final List<String> ran = new ArrayList<>();

    @Test
    void tasksDueDuringAPauseRunAfterItInTheirOrder() {
        time.schedule(Duration.ofMillis(1), () -> ran.add("before"));
        time.schedule(Duration.ofMillis(3), () -> ran.add("first"));
        time.schedule(Duration.ofMillis(4), () -> ran.add("second"));
        time.schedule(Duration.ofMillis(9), () -> ran.add("later"));
        clocks.advance(Duration.ofMillis(2));
        time.pause();
        clocks.advance(Duration.ofMillis(5));
        assertEquals(List.of("before"), ran);
        time.resume();
        clocks.advance(Duration.ZERO);
        assertEquals(List.of("before", "first", "second"), ran);
        clocks.advance(Duration.ofMillis(2));
        assertEquals(List.of("before", "first", "second", "later"), ran);
    }

    @Test
    void tasksCancelledDuringAPauseNeverRun() {
        TimeSource.Timer timer = time.schedule(Duration.ofMillis(1), () -> ran.add("cancelled"));
        time.pause();
        clocks.advance(Duration.ofMillis(2));
        timer.cancel();
        time.resume();
        clocks.advance(Duration.ofMillis(1));
        assertEquals(List.of(), ran);
    }

    @Test
    void clocksGoOnDuringAPause() {
        long begin = time.monotonicNanos();
        time.pause();
        clocks.advance(Duration.ofMillis(5));
        assertEquals(Duration.ofMillis(5).toNanos(), time.monotonicNanos() - begin);
    }
}
