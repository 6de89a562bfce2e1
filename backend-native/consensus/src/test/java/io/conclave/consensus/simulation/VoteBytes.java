package io.conclave.consensus.simulation;

import io.conclave.consensus.disk.SimulatedDisk;
import java.nio.ByteBuffer;

/** What the vote file of a simulated disk says, whether its process runs or not. */
public final class VoteBytes {
    private static final int SLOT_STRIDE = 4096;
    private static final int TORN_AT = 12;
    private static final int SEQUENCE_AT = 32;
    private static final int DURABLE_OFFSET_AT = 64;
    private static final int BASE_INDEX_AT = 88;

    private VoteBytes() {}

    private static ByteBuffer newest(SimulatedDisk disk) {
        ByteBuffer vote = ByteBuffer.wrap(disk.bytes("vote"));
        boolean both = vote.limit() >= SLOT_STRIDE + BASE_INDEX_AT + Long.BYTES;
        boolean second = both && vote.getLong(SLOT_STRIDE + SEQUENCE_AT) > vote.getLong(SEQUENCE_AT);
        return second ? vote.slice(SLOT_STRIDE, vote.limit() - SLOT_STRIDE) : vote;
    }

    /** Whether the end of the log was torn, so that its member's vote is provisional. */
    public static boolean isTorn(SimulatedDisk disk) {
        return disk.list().contains("vote") && newest(disk).getInt(TORN_AT) != 0;
    }

    /** Up to where within its segment the log is durable for certain. */
    static long durableOffset(SimulatedDisk disk) {
        return newest(disk).getLong(DURABLE_OFFSET_AT);
    }

    /** Behind which index the log begins: no log stands in for that snapshot. */
    static long baseIndex(SimulatedDisk disk) {
        return newest(disk).getLong(BASE_INDEX_AT);
    }
}
