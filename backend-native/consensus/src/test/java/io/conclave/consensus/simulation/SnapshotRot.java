package io.conclave.consensus.simulation;

import io.conclave.consensus.disk.SimulatedDisk;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Damages the newest snapshot of a disk now and then: one at a time, and only where an older one and the log can stand in for
 * it, so that the member survives a restart.
 */
final class SnapshotRot {
    private static final int SLOT_STRIDE = 4096;
    private static final int SEQUENCE_AT = 32;
    private static final int BASE_INDEX_AT = 88;

    private final Random random;
    private final boolean checkedOften;
    private final Map<SimulatedDisk, String> damaged = new HashMap<>();
    private final Set<SimulatedDisk> spared = new HashSet<>();

    SnapshotRot(Random random) {
        this.random = random;
        checkedOften = random.nextInt(3) == 0;
    }

    /** Whether members look for damage often in this run. */
    boolean isCheckedOften() {
        return checkedOften;
    }

    /** Leaves the disk alone: it is full at times, and a full disk keeps one snapshot. */
    void spare(SimulatedDisk disk) {
        spared.add(disk);
    }

    void strike(SimulatedDisk disk) {
        if (spared.contains(disk)) {
            return;
        }
        if (random.nextInt(8) != 0) {
            return;
        }
        List<String> whole = disk.list().stream()
                .filter(name -> name.startsWith("snapshot-") && name.endsWith(".snap"))
                .filter(name -> indexOf(name) >= baseOf(disk))
                .sorted()
                .toList();
        if (whole.size() < 2 || whole.contains(damaged.get(disk))) {
            return;
        }
        String newest = whole.get(whole.size() - 1);
        damaged.put(disk, newest);
        disk.flipBit(newest, random.nextInt(disk.bytes(newest).length));
    }

    private static long indexOf(String snapshot) {
        return Long.parseLong(snapshot, "snapshot-".length(), "snapshot-".length() + 16, 16);
    }

    /** Behind which index the log begins, as the vote file says: no log stands in for that snapshot. */
    private static long baseOf(SimulatedDisk disk) {
        ByteBuffer vote = ByteBuffer.wrap(disk.bytes("vote"));
        boolean both = vote.limit() >= SLOT_STRIDE + BASE_INDEX_AT + Long.BYTES;
        boolean second = both && vote.getLong(SLOT_STRIDE + SEQUENCE_AT) > vote.getLong(SEQUENCE_AT);
        return vote.getLong((second ? SLOT_STRIDE : 0) + BASE_INDEX_AT);
    }
}
