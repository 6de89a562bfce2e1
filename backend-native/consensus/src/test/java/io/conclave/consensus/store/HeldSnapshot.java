package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A snapshot that a {@link CrashSimulation} opens, and reads at some later time, when its file may be deleted. */
final class HeldSnapshot {
    private StoredSnapshot held;
    private byte[] heldBytes = new byte[0];

    /** Checks the one that is held and closes it; else holds the newest one. */
    void holdOrCheck(FileStore store, CommittedLog cluster) throws IOException {
        if (held != null) {
            assertTrue(ByteBuffer.wrap(heldBytes).equals(ByteBuffer.wrap(bytesOf(held))), "the snapshot has changed");
            held.close();
            held = null;
            return;
        }
        held = store.openNewestSnapshot();
        if (held != null) {
            assertTrue(cluster.states().containsKey(held.lastIndex()));
            heldBytes = bytesOf(held);
        }
    }

    private static byte[] bytesOf(StoredSnapshot snapshot) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) snapshot.length());
        assertEquals(bytes.capacity(), snapshot.read(bytes, 0));
        return bytes.array();
    }
}
