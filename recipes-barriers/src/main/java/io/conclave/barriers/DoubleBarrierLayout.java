package io.conclave.barriers;

import io.conclave.node.NodePath;
import java.util.regex.Pattern;

/**
 * Where the parts of a double barrier are.
 *
 * @param path its znode
 * @param participants how many go through together
 */
record DoubleBarrierLayout(NodePath path, int participants) {
    static final String READY = "ready";

    /** A UUID: ours and Curator's with hyphens, kazoo's without. */
    private static final Pattern MEMBER = Pattern.compile("[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}");

    /** The znode that is there from the moment when all have entered until the last of them leaves. */
    NodePath ready() {
        return path.child(READY);
    }

    NodePath member(String name) {
        return path.child(name);
    }

    /** Whether a child of the barrier is a participant by its name; others may keep znodes of their own there. */
    static boolean isMember(String name) {
        return MEMBER.matcher(name).matches();
    }
}
