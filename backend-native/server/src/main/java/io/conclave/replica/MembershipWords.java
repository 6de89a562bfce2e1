package io.conclave.replica;

import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Changes of the membership in ZooKeeper's words: {@code server.N=...}, or {@code N=...}, for a member that joins, and
 * {@code N} for one that leaves.
 */
public final class MembershipWords {
    /** Before an item: make the change also without a live majority of the new voters. */
    public static final String FORCE = "force:";

    private MembershipWords() {}

    /**
     * Reads two lists, with commas or ends of line between their items. Members that join come before those that leave,
     * so that there are always enough. One that is in both lists joins: ZooKeeper lets it leave first.
     *
     * @throws IllegalArgumentException if an item is not of its form, or there is none
     */
    public static List<MembershipChange> parse(@Nullable String joining, @Nullable String leaving) {
        List<MembershipChange> changes = new ArrayList<>();
        Set<Integer> joins = new HashSet<>();
        for (String item : items(joining)) {
            String line = unforced(item);
            int equals = line.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("\"" + line + "\" is not of the form server.N=host:peerPort...");
            }
            int id = id(withoutServer(line.substring(0, equals)));
            joins.add(id);
            changes.add(new MembershipChange.Put(
                    MemberLine.parse(id, line.substring(equals + 1)).member(), item.startsWith(FORCE)));
        }
        for (String item : items(leaving)) {
            String server = unforced(item);
            int id = id(withoutServer(server));
            if (!joins.contains(id)) {
                changes.add(new MembershipChange.Remove(id, item.startsWith(FORCE)));
            }
        }
        if (changes.isEmpty()) {
            throw new IllegalArgumentException("no server joins and none leaves");
        }
        return changes;
    }

    /** The changes in the words that {@link #parse} reads; first those that join, then those that leave. */
    public static List<String> format(List<MembershipChange> changes) {
        StringBuilder joining = new StringBuilder();
        StringBuilder leaving = new StringBuilder();
        for (MembershipChange change : changes) {
            if (change instanceof MembershipChange.Put put) {
                EnsembleMember member = put.member();
                joining.append(put.force() ? FORCE : "")
                        .append("server.")
                        .append(member.id())
                        .append('=');
                joining.append(MemberList.format(member, !member.observer())).append('\n');
            } else if (change instanceof MembershipChange.Remove remove) {
                leaving.append(remove.force() ? FORCE : "")
                        .append(remove.member())
                        .append('\n');
            }
        }
        return List.of(joining.toString(), leaving.toString());
    }

    /** The changes in a sentence for an operator. */
    public static String describe(List<MembershipChange> changes) {
        List<String> parts = new ArrayList<>();
        for (MembershipChange change : changes) {
            if (change instanceof MembershipChange.Put put) {
                EnsembleMember member = put.member();
                parts.add("server " + member.id() + " joins or changes to "
                        + MemberList.format(member, !member.observer()));
            } else if (change instanceof MembershipChange.Remove remove) {
                parts.add("server " + remove.member() + " leaves");
            }
        }
        return String.join(", ", parts);
    }

    private static String withoutServer(String text) {
        return text.startsWith("server.") ? text.substring("server.".length()) : text;
    }

    private static String unforced(String item) {
        return item.startsWith(FORCE) ? item.substring(FORCE.length()) : item;
    }

    private static List<String> items(@Nullable String list) {
        List<String> items = new ArrayList<>();
        for (String item : list == null ? new String[0] : list.split("[,\n]")) {
            if (!item.isBlank()) {
                items.add(item.strip());
            }
        }
        return items;
    }

    /**
     * The number of a server.
     *
     * @throws IllegalArgumentException if the text is none
     */
    public static int id(String text) {
        try {
            int id = Integer.parseInt(text.strip());
            if (id >= 1 && id <= MemberLine.MAX_ID) {
                return id;
            }
        } catch (NumberFormatException e) {
            // said below like any other bad value
        }
        throw new IllegalArgumentException("\"" + text + "\" is not a server's number from 1 to " + MemberLine.MAX_ID);
    }
}
