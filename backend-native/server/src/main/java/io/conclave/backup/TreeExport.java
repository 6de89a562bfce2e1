package io.conclave.backup;

import io.conclave.tree.AclEntry;
import io.conclave.tree.PermissionBits;
import io.conclave.tree.TreeState;
import io.conclave.tree.Znode;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A state as JSON lines, for other programs: an object for each znode, parents before children, children in the order
 * of their names. Nothing about sessions but the owners of ephemeral znodes.
 */
public final class TreeExport {
    private static final int READABLE_FROM = 0x20;

    private record Place(String path, Znode znode) {}

    private TreeExport() {}

    /**
     * Writes all znodes, a line each, with a line feed at the end; blocks as the target does.
     *
     * @return how many
     */
    public static long write(TreeState state, Appendable out) throws IOException {
        Deque<Place> left = new ArrayDeque<>();
        left.push(new Place("/", state.root()));
        long count = 0;
        while (!left.isEmpty()) {
            Place next = left.pop();
            out.append(line(next.path, next.znode)).append('\n');
            count++;
            List<String> names = new ArrayList<>();
            next.znode.children().forEach((name, child) -> names.add(name));
            names.sort(Collections.reverseOrder());
            String parent = next.path.equals("/") ? "" : next.path;
            for (String name : names) {
                Znode child = next.znode.children().get(name);
                if (child != null) {
                    left.push(new Place(parent + "/" + name, child));
                }
            }
        }
        return count;
    }

    private static String line(String path, Znode znode) {
        byte[] data = znode.data();
        StringBuilder line = new StringBuilder();
        line.append("{\"path\":").append(quoted(path));
        line.append(",\"kind\":\"").append(kindOf(znode)).append('"');
        if (znode.isEphemeral()) {
            line.append(",\"session\":\"0x")
                    .append(Long.toHexString(znode.ephemeralOwner()))
                    .append('"');
        }
        if (znode.hasTtl()) {
            line.append(",\"ttlMs\":").append(znode.ttlMs());
        }
        line.append(",\"data\":")
                .append(data == null ? "null" : '"' + Base64.getEncoder().encodeToString(data) + '"');
        line.append(",\"acl\":")
                .append(znode.acl().entries().stream()
                        .map(TreeExport::entry)
                        .collect(Collectors.joining(",", "[", "]")));
        line.append(",\"version\":").append(znode.version());
        line.append(",\"cversion\":").append(znode.stat().cversion());
        line.append(",\"aversion\":").append(znode.aversion());
        line.append(",\"nextSequence\":").append(znode.creations());
        line.append(",\"ctimeMs\":").append(znode.ctime());
        line.append(",\"mtimeMs\":").append(znode.mtime());
        line.append(",\"czxid\":").append(zxid(znode.czxid()));
        line.append(",\"mzxid\":").append(zxid(znode.mzxid()));
        line.append(",\"pzxid\":").append(zxid(znode.pzxid()));
        return line.append('}').toString();
    }

    private static String kindOf(Znode znode) {
        if (znode.isEphemeral()) {
            return "ephemeral";
        }
        if (znode.isContainer()) {
            return "container";
        }
        return znode.hasTtl() ? "ttl" : "persistent";
    }

    private static String entry(AclEntry entry) {
        return "{\"scheme\":" + quoted(entry.id().scheme()) + ",\"id\":"
                + quoted(entry.id().id()) + ",\"permissions\":\"" + PermissionBits.letters(entry.permissions()) + "\"}";
    }

    /** A text: many readers keep numbers of 53 bits only. */
    private static String zxid(long zxid) {
        return "\"0x" + Long.toHexString(zxid) + '"';
    }

    /** RFC 8259, section 7; unpaired surrogates as escapes, since they have no UTF-8. */
    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < READABLE_FROM || Character.isSurrogate(c)) {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
