package io.conclave.backup;

import io.conclave.tree.TreeState;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * What a backup says about its state before it comes.
 *
 * @param clusterId of the cluster that it was taken from
 * @param generation of that cluster's numbers
 * @param featureLevel which semantics are switched on in the state
 * @param term of the last leader then
 * @param zxid of the last change in the state
 * @param timeMs of that change, since the epoch
 * @param digest of the state
 * @param znodes how many there are
 * @param ephemerals how many of them belong to sessions
 * @param sessions how many there were
 * @param dataBytes the characters of all paths and the bytes of all data
 */
public record BackupSummary(
        UUID clusterId,
        long generation,
        int featureLevel,
        long term,
        long zxid,
        long timeMs,
        long digest,
        long znodes,
        long ephemerals,
        long sessions,
        long dataBytes) {
    static final int BYTES = 11 * Long.BYTES + Integer.BYTES;

    /** Of a state. */
    public static BackupSummary of(TreeState state) {
        return new BackupSummary(
                state.clusterId(),
                state.generation(),
                state.featureLevel(),
                state.term(),
                state.lastZxid(),
                state.lastTimeMs(),
                state.digest(),
                state.nodeCount(),
                state.ephemeralCount(),
                state.sessions().size(),
                state.approximateDataBytes());
    }

    /** What a server of that state needs as its heap, about, so that the state is not full. */
    long heapBytes() {
        return TreeState.approximateHeapBytes(znodes, dataBytes, ephemerals, sessions) / 2 * 5;
    }

    void write(ByteBuffer out) {
        out.putLong(clusterId.getMostSignificantBits()).putLong(clusterId.getLeastSignificantBits());
        out.putLong(generation).putInt(featureLevel).putLong(term).putLong(zxid).putLong(timeMs);
        out.putLong(digest)
                .putLong(znodes)
                .putLong(ephemerals)
                .putLong(sessions)
                .putLong(dataBytes);
    }

    static BackupSummary read(ByteBuffer in) {
        return new BackupSummary(
                new UUID(in.getLong(), in.getLong()),
                in.getLong(),
                in.getInt(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong());
    }
}
