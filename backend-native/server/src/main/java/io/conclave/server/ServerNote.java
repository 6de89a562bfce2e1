package io.conclave.server;

import java.nio.ByteBuffer;

/**
 * What a server tells the leader's, outside of the log: version 1, feature level 4, number of sessions 4, their ids.
 *
 * @param featureLevel what the server understands
 * @param sessionIds the sessions that it has heard of since its last note
 */
record ServerNote(int featureLevel, long[] sessionIds) {
    private static final byte VERSION = 1;
    private static final int HEAD_BYTES = 1 + 2 * Integer.BYTES;

    byte[] encode() {
        ByteBuffer bytes = ByteBuffer.allocate(HEAD_BYTES + Long.BYTES * sessionIds.length);
        bytes.put(VERSION).putInt(featureLevel).putInt(sessionIds.length);
        for (long id : sessionIds) {
            bytes.putLong(id);
        }
        return bytes.array();
    }

    /**
     * The note that has these bytes. What a newer server adds at the end is left alone.
     *
     * @throws IllegalArgumentException if there is none
     */
    static ServerNote decode(byte[] note) {
        ByteBuffer bytes = ByteBuffer.wrap(note);
        if (note.length < HEAD_BYTES || bytes.get() != VERSION) {
            throw new IllegalArgumentException("a note of " + note.length + " bytes is not of version " + VERSION);
        }
        int level = bytes.getInt();
        int count = bytes.getInt();
        if (count < 0 || count > bytes.remaining() / Long.BYTES) {
            throw new IllegalArgumentException(
                    "a note of " + note.length + " bytes cannot name " + count + " sessions");
        }
        long[] ids = new long[count];
        for (int i = 0; i < count; i++) {
            ids[i] = bytes.getLong();
        }
        return new ServerNote(level, ids);
    }
}
