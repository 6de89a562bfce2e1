package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ConnectionStatisticsTest {
    private static final long NANOS_OF_A_WRITE = TimeUnit.MICROSECONDS.toNanos(1_600);

    private final LoopCounters ofLoop = new LoopCounters();
    private final ConnectionStatistics statistics = new ConnectionStatistics(ofLoop, 0);

    @Test
    void theMeanLatencyIsBetweenTheLeastAndTheLongest() {
        statistics.written(NANOS_OF_A_WRITE);

        ConnectionReport report = statistics.report(new ConnectionReport.Client("/127.0.0.1:1", true, 1, 1000));
        assertEquals(1, report.minLatencyMs());
        assertEquals(2, report.averageLatencyMs());
        assertEquals(2, report.maxLatencyMs());
        ConnectionTotals totals = ofLoop.totals(1, 0, new ConnectionTotals.Turns(0, 0, 0));
        assertEquals(1, totals.leastLatencyMs());
        assertEquals(1.6, totals.averageLatencyMs(), 1e-9);
        assertEquals(2, totals.maxLatencyMs());
    }
}
