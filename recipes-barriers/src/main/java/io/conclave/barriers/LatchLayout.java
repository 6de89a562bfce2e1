package io.conclave.barriers;

import io.conclave.node.NodePath;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Where the parts of a count-down are.
 *
 * @param path its znode
 * @param count how often it is to be counted down
 */
record LatchLayout(NodePath path, int count) {
    /** The parent of the names that have counted. */
    NodePath names() {
        return path.child("by");
    }

    NodePath by(String name) {
        return names().child(name);
    }

    /**
     * The parent of the counts. The number is in its name, so that a client that counts to another number is refused in
     * the same request.
     */
    NodePath counts() {
        return path.child("of-" + count);
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
}
