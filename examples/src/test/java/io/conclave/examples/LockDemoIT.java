package io.conclave.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class LockDemoIT {
    @Test
    void lockDemoShowsTurnsThatNeverOverlap() throws Exception {
        List<String> lines = new CopyOnWriteArrayList<>();
        ChildProcess demo = ChildProcess.start(lines::add, LockDemo.class);
        assertEquals(0, demo.await(), () -> String.join("\n", lines));
        String output = String.join("\n", lines);
        assertTrue(output.contains("killed while holding"), output);
        assertTrue(output.contains("Nobody overlapped"), output);
        assertTrue(output.contains("no count was lost"), output);
    }
}
