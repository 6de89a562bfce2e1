package io.conclave.barriers;

import io.conclave.node.Bytes;
import io.conclave.node.NodePath;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Where the parts of a latch are.
 *
 * @param path its znode
 * @param count how often it is to be counted down
 */
record LatchLayout(NodePath path, int count) {
    static final String NAMES = "by";
    private static final Pattern COUNTS = Pattern.compile("of-[0-9]+");

    /** The parent of the names that have counted. */
    NodePath names() {
        return path.child(NAMES);
    }

    NodePath by(String name) {
        return names().child(name);
    }

    /**
     * The parent of the counts. The number is in its name, so that a client that counts to another number is refused in
     * the same request.
     */
    NodePath counts() {
        return countsOf(count);
    }

    private NodePath countsOf(int number) {
        return path.child("of-" + number);
    }

    /** The parent of the counts of the one that has this data; empty if it is no latch's. */
    Optional<NodePath> countsOf(byte[] data) {
        try {
            return Optional.of(countsOf(Integer.parseInt(new String(data, StandardCharsets.UTF_8))));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** One of its parts, the names last: what has names is a latch. Empty if all children are of others. */
    Optional<NodePath> partAmong(List<String> children) {
        return children.stream()
                .filter(name -> COUNTS.matcher(name).matches())
                .findFirst()
                .or(() -> children.stream().filter(NAMES::equals).findFirst())
                .map(path::child);
    }

    /** What a count is named, before the backend gives it its number. */
    NodePath nextCount() {
        return counts().child("c-");
    }

    /** The znode that the last of the counts makes: numbers begin with 0, and counts are not deleted. */
    NodePath lastCount() {
        return counts().child(String.format(Locale.ROOT, "c-%010d", count - 1));
    }

    byte[] data() {
        return Integer.toString(count).getBytes(StandardCharsets.UTF_8);
    }

    /** Empty if the latch that has this data was made for our count. */
    Optional<IllegalArgumentException> refusalOf(Bytes data) {
        return data.contentEquals(data())
                ? Optional.empty()
                : Optional.of(new IllegalArgumentException(
                        "Invalid count " + count + ": the latch at " + path + " was made for \"" + data.text() + "\""));
    }
}
