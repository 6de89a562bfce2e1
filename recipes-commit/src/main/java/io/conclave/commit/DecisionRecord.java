package io.conclave.commit;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/**
 * What is kept of a transaction when it is finished and deleted. It is written once and never changed.
 *
 * @param guid of the beginning, by which its initiator knows its own transaction
 * @param retention how long it is kept, from the creation of its znode
 * @param decision what was decided
 */
record DecisionRecord(String guid, Duration retention, Decision decision) {
    private static final String HEADING = "conclave decision";
    private static final int PARTS = 4;

    byte[] toBytes() {
        String head = String.join("\n", HEADING, guid, Long.toString(retention.toMillis())) + "\n";
        byte[] headBytes = head.getBytes(StandardCharsets.UTF_8);
        byte[] decisionBytes = decision.toBytes();
        byte[] data = Arrays.copyOf(headBytes, headBytes.length + decisionBytes.length);
        System.arraycopy(decisionBytes, 0, data, headBytes.length, decisionBytes.length);
        return data;
    }

    /** Empty if it is no decision record of ours. */
    static Optional<DecisionRecord> parse(byte[] data) {
        String[] parts = new String(data, StandardCharsets.UTF_8).split("\n", PARTS);
        if (parts.length < PARTS || !parts[0].equals(HEADING)) {
            return Optional.empty();
        }
        try {
            return Optional.of(new DecisionRecord(
                    parts[1],
                    Duration.ofMillis(Long.parseLong(parts[2])),
                    Decision.parse(parts[3].getBytes(StandardCharsets.UTF_8))));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
