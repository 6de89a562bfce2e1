package io.conclave.shedlock;

import io.conclave.node.NodePath;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * The three znodes of a lock.
 *
 * @param record persistent: until when the lock is taken, as ShedLock's own ZooKeeper provider writes it
 * @param details persistent, below it: see {@link LockDetails}
 * @param holder ephemeral, below it: lives as long as the session of the process that holds the lock; its data is the
 *     owner's guid
 */
record ShedLockNodes(NodePath record, NodePath details, NodePath holder) {
    private static final Pattern ENCODED = Pattern.compile("%[0-9A-Fa-f]{2}");

    /**
     * The znodes of the lock of that name.
     *
     * @param name any text; what cannot be in a znode's name, or looks as if it were written so, is written as in URLs:
     *     {@code %2F} for a slash
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
        for (int i = 0; i < name.length(); i += Character.charCount(name.codePointAt(i))) {
            int c = name.codePointAt(i);
            String one = Character.toString(c);
            if (c == '%' ? !ENCODED.matcher(name).region(i, name.length()).lookingAt() : isAllowed(c)) {
                text.append(one);
            } else {
                for (byte octet : one.getBytes(StandardCharsets.UTF_8)) {
                    text.append(String.format("%%%02X", octet));
                }
            }
        }
        return text.toString();
    }

    /** What can be in a znode's name, as ShedLock's own provider writes it there. */
    private static boolean isAllowed(int c) {
        return c != '/' && c > 0x1f && (c < 0x7f || c > 0x9f) && (c < 0xd800 || c > 0xf8ff) && c < 0xfff0;
    }
}
