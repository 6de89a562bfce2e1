package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.PowerFailure;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.RestoredCluster;
import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class RestoredLogTest extends FileStoreFixture {
    private static final UUID NEW_CLUSTER = new UUID(7, 8);
    private static final long DIRECTORY = 99;
    private static final long TERM = 5;
    private static final long STATE = 4_711;

    private static RestoredCluster cluster() {
        return new RestoredCluster(
                NEW_CLUSTER, new EnsembleMember(1, 0, "a", 2888, "", 0, false), DIRECTORY, TERM, 1_000, 1, 2_000);
    }

    private void restore() throws IOException {
        RestoredLog.write(disk, cluster(), Replay.snapshotOf(STATE));
    }

    @Test
    void theLogGoesOnBehindTheState() throws IOException {
        restore();
        bootstrap = false;
        FileStore store = start();
        assertTrue(store.isMember());
        assertTrue(store.isBootstrappedHere());
        assertEquals(NEW_CLUSTER, store.clusterId());
        assertEquals(DIRECTORY, store.directory());
        assertEquals(TERM, recovered.term());
        assertEquals(STATE, replay.state);
        assertEquals(1, recovered.lastCommitted());
        append(store, batches(TERM + 1, 2, 3, 100), 4);
        disk.losePower();
        start();
        assertEquals(4, recovered.lastCommitted() + recovered.rest().size());
    }

    @Test
    void nothingIsRestoredOverWhatIsThere() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 3, 100), 3);
        LogException inUse = assertThrows(LogException.class, this::restore);
        store.close(true);
        LogException notEmpty = assertThrows(LogException.class, this::restore);
        assertTrue(String.valueOf(notEmpty.getMessage()).contains("is not empty"), notEmpty::toString);
        assertFalse(String.valueOf(inUse.getMessage()).contains("is not empty"), inUse::toString);
        disk.delete("identity");
        assertThrows(LogException.class, this::restore);
        for (String name : disk.list()) {
            if (!name.equals("vote")) {
                disk.delete(name);
            }
        }
        LogException used = assertThrows(LogException.class, this::restore);
        assertTrue(String.valueOf(used.getMessage()).contains("was in use"), used::toString);
    }

    @Test
    void aLogThatWasSetAsideIsNotInTheWay() throws IOException {
        start().close(true);
        LogDirectory.setAside(disk);
        restore();
        assertEquals(NEW_CLUSTER, start().clusterId());
    }

    /** Whatever the power failure leaves, it is no member's directory, or that of a whole one. */
    @Test
    void aRestoreThatWasInterruptedMayBeRepeated() throws IOException {
        bootstrap = false;
        int interrupted = 0;
        boolean done = false;
        for (int operations = 1; !done; operations++) {
            for (String name : disk.list()) {
                disk.delete(name);
            }
            disk.syncDirectory();
            disk.failAfter(operations);
            try {
                restore();
                done = !disk.hasFailed();
            } catch (PowerFailure e) {
                interrupted++;
            }
            disk.losePower();
            if (!disk.list().contains("identity")) {
                restore();
            }
            start();
            assertEquals(TERM, recovered.term());
            assertEquals(STATE, replay.state);
            assertEquals(1, recovered.lastCommitted());
            disk.kill();
        }
        assertTrue(interrupted > 10, interrupted + " times");
    }
}
