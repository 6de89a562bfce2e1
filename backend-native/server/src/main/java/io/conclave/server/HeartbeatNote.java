package io.conclave.server;

import io.conclave.consensus.MembershipChange;
import io.conclave.replica.MembershipWords;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * What a server tells the leader's, outside of the log: version 1 or 2, in version 2 its wall clock 8, feature level 4,
 * number of sessions 4, their ids 8 each; then, if the members shall change, those that join and those that leave, each
 * a length 4 and its text, a number 8, and the index of the members 8.
 *
 * @param featureLevel what the server understands
 * @param sessionIds the sessions that it has heard of since its last note
 * @param changes of the members, that an operator asked it for
 * @param question by which the leader's {@link ServerAnswer} names these changes; 0 from a server that expects none
 * @param knownIndex of the configuration that the server knew when it was asked; the largest number from one that does
 *     not say it
 * @param wallMs what its clock says; 0 for the leader not to know, as members of earlier versions need it
 */
record HeartbeatNote(
        int featureLevel,
        long[] sessionIds,
        List<MembershipChange> changes,
        long question,
        long knownIndex,
        long wallMs) {
    /** All members read notes with a clock at this feature level. */
    static final int CLOCK_FEATURE_LEVEL = 2;

    private static final byte VERSION = 1;
    private static final byte VERSION_WITH_CLOCK = 2;
    private static final int HEAD_BYTES = 1 + 2 * Integer.BYTES;

    HeartbeatNote(int featureLevel, long[] sessionIds) {
        this(featureLevel, sessionIds, List.of(), 0, Long.MAX_VALUE);
    }

    HeartbeatNote(int featureLevel, long[] sessionIds, List<MembershipChange> changes, long question, long knownIndex) {
        this(featureLevel, sessionIds, changes, question, knownIndex, 0);
    }

    /** The same with what the server's clock says. */
    HeartbeatNote at(long newWallMs) {
        return new HeartbeatNote(featureLevel, sessionIds, changes, question, knownIndex, newWallMs);
    }

    byte[] encode() {
        List<byte[]> words = changes.isEmpty()
                ? List.of()
                : MembershipWords.format(changes).stream()
                        .map(text -> text.getBytes(StandardCharsets.UTF_8))
                        .toList();
        int wordBytes =
                words.stream().mapToInt(word -> Integer.BYTES + word.length).sum();
        int questionBytes = words.isEmpty() ? 0 : 2 * Long.BYTES;
        int clockBytes = wallMs == 0 ? 0 : Long.BYTES;
        ByteBuffer bytes = ByteBuffer.allocate(
                HEAD_BYTES + clockBytes + Long.BYTES * sessionIds.length + wordBytes + questionBytes);
        if (wallMs == 0) {
            bytes.put(VERSION);
        } else {
            bytes.put(VERSION_WITH_CLOCK).putLong(wallMs);
        }
        bytes.putInt(featureLevel).putInt(sessionIds.length);
        for (long id : sessionIds) {
            bytes.putLong(id);
        }
        words.forEach(word -> bytes.putInt(word.length).put(word));
        if (!words.isEmpty()) {
            bytes.putLong(question).putLong(knownIndex);
        }
        return bytes.array();
    }

    /**
     * The note that has these bytes. What a newer server adds at the end is left alone.
     *
     * @throws IllegalArgumentException if there is none
     */
    static HeartbeatNote decode(byte[] note) {
        ByteBuffer bytes = ByteBuffer.wrap(note);
        byte version = note.length < HEAD_BYTES ? 0 : bytes.get();
        boolean hasClock = version == VERSION_WITH_CLOCK && note.length >= HEAD_BYTES + Long.BYTES;
        if (version != VERSION && !hasClock) {
            throw new IllegalArgumentException(
                    "a note of " + note.length + " bytes is not of version " + VERSION + " or " + VERSION_WITH_CLOCK);
        }
        long wallMs = hasClock ? bytes.getLong() : 0;
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
        List<MembershipChange> changes =
                bytes.hasRemaining() ? MembershipWords.parse(text(bytes), text(bytes)) : List.of();
        long question = bytes.remaining() < Long.BYTES ? 0 : bytes.getLong();
        long knownIndex = bytes.remaining() < Long.BYTES ? Long.MAX_VALUE : bytes.getLong();
        return new HeartbeatNote(level, ids, changes, question, knownIndex, wallMs);
    }

    private static String text(ByteBuffer bytes) {
        int length = bytes.remaining() < Integer.BYTES ? -1 : bytes.getInt();
        if (length < 0 || length > bytes.remaining()) {
            throw new IllegalArgumentException("a note's text has a length of " + length);
        }
        byte[] text = new byte[length];
        bytes.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }
}
