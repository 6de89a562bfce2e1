package io.conclave.election;

import io.conclave.grant.FencingToken;
import io.conclave.node.Bytes;
import io.conclave.node.NodeStat;
import io.conclave.request.GetData;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What stands in a leader's znode: a line for people and programs, {@code token=<token> place=<name>}, the token as
 * {@link FencingToken#toString} has it, and behind it the data that the leader left as a candidate.
 *
 * @param token the leader's fencing token
 * @param place the name of its znode in the line
 * @param data the candidate's data; not copied
 */
record LeaderRecord(FencingToken token, String place, byte[] data) {
    private static final Pattern HEADER = Pattern.compile("token=([^ ]+) place=([^ ]+)");
    private static final byte END_OF_HEADER = '\n';

    byte[] toBytes() {
        byte[] header = ("token=" + token + " place=" + place + (char) END_OF_HEADER).getBytes(StandardCharsets.UTF_8);
        byte[] bytes = Arrays.copyOf(header, header.length + data.length);
        System.arraycopy(data, 0, bytes, header.length, data.length);
        return bytes;
    }

    /** Reads a record; empty if it is none. */
    static Optional<LeaderRecord> parse(byte[] bytes) {
        int end = 0;
        while (end < bytes.length && bytes[end] != END_OF_HEADER) {
            end++;
        }
        Matcher header = HEADER.matcher(new String(bytes, 0, end, StandardCharsets.UTF_8));
        int headerEnd = end;
        if (end == bytes.length || !header.matches()) {
            return Optional.empty();
        }
        return tokenOf(header.group(1))
                .map(token -> new LeaderRecord(
                        token, header.group(2), Arrays.copyOfRange(bytes, headerEnd + 1, bytes.length)));
    }

    private static Optional<FencingToken> tokenOf(String text) {
        try {
            return Optional.of(FencingToken.parse(text));
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // another client's data
        }
    }

    /** The leader that a znode tells of; empty if it is not that of a leader, which has a record and is ephemeral. */
    static Optional<Leader> leaderOf(GetData.NodeData node) {
        NodeStat stat = node.stat();
        return parse(node.data())
                .filter(record -> stat.isEphemeral())
                .map(record -> new Leader(
                        Bytes.adopt(record.data),
                        record.token,
                        stat.ephemeralOwner(),
                        Instant.ofEpochMilli(stat.ctimeMs())));
    }
}
