package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class WatchReportTest {
    /** A client that watches a path with a line end does not write lines of its own. */
    @Test
    void aWatchedPathStaysInItsLine() {
        WatchReport report = new WatchReport(new TreeMap<>(Map.of(0x10L, List.of("/a\n0x20\u2029"))));
        assertEquals("0x10\n\t/a\\n0x20\\u2029\n\n", report.ofSessions());
        assertEquals("/a\\n0x20\\u2029\n\t0x10\n\n", report.ofPaths());
    }
}
