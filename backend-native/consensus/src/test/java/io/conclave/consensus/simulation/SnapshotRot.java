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
 * Damages the newest snapshot of a disk now and then: one at a time, and only where an older one and the log can stand
 * in for it, so that the member survives a restart.
 */
public final class SnapshotRot {
    /** In a segment: of the first batch. */
    private static final int FIRST_INDEX_AT = 512 + 32;

    private final Random random;
    private final boolean checkedOften;
    private final Map<SimulatedDisk, String> damaged = new HashMap<>();
    private final Set<SimulatedDisk> spared = new HashSet<>();

    public SnapshotRot(Random random) {
        this.random = random;
        checkedOften = random.nextInt(3) == 0;
    }

    /** Whether members look for damage often in this run. */
    public boolean isCheckedOften() {
        return checkedOften;
    }

    /** Leaves the disk alone: it is full at times, and a full disk keeps one snapshot; or it may have rotted unseen. */
    public void spare(SimulatedDisk disk) {
        spared.add(disk);
    }

    /** Now and then; whether it has. */
    public boolean strike(SimulatedDisk disk) {
        return !spared.contains(disk) && random.nextInt(8) == 0 && strike(disk, random);
    }

    /** Now, when another member is about to need what is on the disk; whether it has. */
    public boolean strikeNow(SimulatedDisk disk, Random offsets) {
        return !spared.contains(disk) && strike(disk, offsets);
    }

    private boolean strike(SimulatedDisk disk, Random offsets) {
        List<String> whole = disk.list().stream()
                .filter(name -> name.startsWith("snapshot-") && name.endsWith(".snap"))
                .filter(name -> indexOf(name) >= VoteBytes.baseIndex(disk))
                .sorted()
                .toList();
        if (whole.size() < 2 || whole.contains(damaged.get(disk))) {
            return false;
        }
        if (indexOf(whole.get(whole.size() - 2)) + 1 < firstIndex(disk)) { // a loss of power has brought it back
            return false;
        }
        String newest = whole.get(whole.size() - 1);
        damaged.put(disk, newest);
        disk.flipBit(newest, offsets.nextInt(disk.bytes(newest).length));
        return true;
    }

    /** Where the log begins. */
    private static long firstIndex(SimulatedDisk disk) {
        return disk.list().stream()
                .filter(name -> name.startsWith("segment-") && name.endsWith(".log"))
                .map(disk::bytes)
                .filter(file -> file.length >= FIRST_INDEX_AT + Long.BYTES) // else torn
                .mapToLong(file -> ByteBuffer.wrap(file).getLong(FIRST_INDEX_AT))
                .filter(index -> index > 0)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private static long indexOf(String snapshot) {
        return Long.parseLong(snapshot, "snapshot-".length(), "snapshot-".length() + 16, 16);
    }
}
