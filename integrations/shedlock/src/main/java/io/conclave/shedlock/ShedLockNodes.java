package io.conclave.shedlock;

import io.conclave.node.NodePath;
import java.nio.charset.StandardCharsets;

/**
 * The three znodes of a lock.
 *
 * @param record persistent: until when the lock is taken, as ShedLock's own ZooKeeper provider writes it
 * @param details persistent, below it: see {@link LockDetails}
 * @param holder ephemeral, below it: lives as long as the session of the process that holds the lock; its data is the
 *     owner's guid
 */
record ShedLockNodes(NodePath record, NodePath details, NodePath holder) {
    /**
     * The znodes of the lock of that name.
     *
     * @param name any text; what cannot be in a znode's name is written as in URLs, {@code %2F} for a slash
     */
    static ShedLockNodes of(NodePath parent, String name) {
        NodePath record = parent.child(encoded(name));
        return new ShedLockNodes(record, record.child("details"), record.child("holder"));
    }

    private static String encoded(String name) {
        if (name.equals(".") || name.equals("..")) {
            return name.replace(".", "%2E");
        }
        StringBuilder text = new StringBuilder();
        name.codePoints().forEach(c -> {
            String one = Character.toString(c);
            if (c != '/' && c != '%' && isAllowed(c)) {
                text.append(one);
            } else {
                for (byte octet : one.getBytes(StandardCharsets.UTF_8)) {
                    text.append(String.format("%%%02X", octet));
                }
            }
        });
        return text.toString();
    }

    /** Letters and digits of all languages, and what is printable in ASCII. */
    private static boolean isAllowed(int c) {
        return c < 0x80 ? c > 0x1f && c != 0x7f : c <= 0xffff && Character.isLetterOrDigit(c);
    }
}
