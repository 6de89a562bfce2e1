package io.conclave.commit;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What stands in a transaction's znode.
 *
 * @param guid by which its initiator recognizes it after a lost reply
 * @param propagation how votes get to the deciding processes
 * @param voteTimeout how long votes are waited for
 * @param retention how long what was decided is kept when all sites have finished
 * @param sites their names
 * @param payload the application's
 */
record TransactionRecord(
        String guid,
        Propagation propagation,
        Duration voteTimeout,
        Duration retention,
        List<String> sites,
        byte[] payload) {
    private static final String HEADING = "conclave transaction";
    private static final int LINES = 5;
    private static final Duration RETENTION_OF_OLD = TwoPhaseCommit.DEFAULT_RETENTION; // which do not name it

    byte[] toBytes() {
        String head = String.join(
                        "\n",
                        HEADING,
                        guid,
                        propagation.name(),
                        voteTimeout.toMillis() + " " + retention.toMillis(),
                        String.join(",", sites))
                + "\n";
        byte[] headBytes = head.getBytes(StandardCharsets.UTF_8);
        byte[] data = Arrays.copyOf(headBytes, headBytes.length + payload.length);
        System.arraycopy(payload, 0, data, headBytes.length, payload.length);
        return data;
    }

    /** What is kept of it when it is finished. */
    DecisionRecord decided(Decision decision) {
        return new DecisionRecord(guid, retention, decision);
    }

    /** Empty if it is no transaction of ours. */
    static Optional<TransactionRecord> parse(byte[] data) {
        int end = 0;
        for (int line = 0; line < LINES; line++) {
            while (end < data.length && data[end] != '\n') {
                end++;
            }
            end++; // behind the line's end
        }
        if (end > data.length) {
            return Optional.empty();
        }
        String[] lines = new String(data, 0, end, StandardCharsets.UTF_8).split("\n", -1);
        if (!lines[0].equals(HEADING)) {
            return Optional.empty();
        }
        String[] times = lines[3].split(" ", -1);
        List<String> sites = List.of(lines[4].split(",", -1));
        try {
            sites.forEach(TwoPhaseCommit::checkedSite);
            return Optional.of(new TransactionRecord(
                    lines[1],
                    Propagation.valueOf(lines[2]),
                    Duration.ofMillis(Long.parseLong(times[0])),
                    times.length > 1 ? Duration.ofMillis(Long.parseLong(times[1])) : RETENTION_OF_OLD,
                    sites,
                    Arrays.copyOfRange(data, end, data.length)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
