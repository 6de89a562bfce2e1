package io.conclave.server;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * What the leader's server says to the one that asked it to change the members: version 1, question 8, then why they
 * were not changed or why that is not known, in UTF-8.
 *
 * @param question the number in the {@link HeartbeatNote}
 * @param refusal empty if the changes were made
 */
record ServerAnswer(long question, String refusal) {
    private static final byte VERSION = 1;
    private static final int HEAD_BYTES = 1 + Long.BYTES;

    byte[] encode() {
        byte[] text = refusal.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(HEAD_BYTES + text.length)
                .put(VERSION)
                .putLong(question)
                .put(text)
                .array();
    }

    /**
     * The answer that has these bytes.
     *
     * @throws IllegalArgumentException if there is none
     */
    static ServerAnswer decode(byte[] answer) {
        ByteBuffer bytes = ByteBuffer.wrap(answer);
        if (answer.length < HEAD_BYTES || bytes.get() != VERSION) {
            throw new IllegalArgumentException("an answer of " + answer.length + " bytes is not of version " + VERSION);
        }
        long question = bytes.getLong();
        return new ServerAnswer(question, StandardCharsets.UTF_8.decode(bytes).toString());
    }
}
