package io.conclave.server;

import io.conclave.connection.AuditLine;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What is watched through this server, in ZooKeeper's forms. Also what is no path of a znode can be watched, so paths
 * are escaped.
 *
 * @param bySession the paths that each session watches, but for lists of children
 */
record WatchReport(SortedMap<Long, List<String>> bySession) {
    /** Brings what is watched in order. */
    static WatchReport of(Map<Long, List<String>> watches) {
        SortedMap<Long, List<String>> sorted = new TreeMap<>();
        watches.forEach((id, paths) -> sorted.put(id, paths.stream().sorted().toList()));
        return new WatchReport(sorted);
    }

    /** The answer to wchs. */
    String summary() {
        Set<String> paths = new HashSet<>();
        bySession.values().forEach(paths::addAll);
        int watches = bySession.values().stream().mapToInt(List::size).sum();
        return bySession.size() + " connections watching " + paths.size() + " paths\nTotal watches:" + watches + "\n";
    }

    /** The answer to wchc. */
    String ofSessions() {
        StringBuilder text = new StringBuilder();
        bySession.forEach((id, paths) -> {
            text.append(hex(id)).append('\n');
            paths.forEach(
                    path -> text.append('\t').append(AuditLine.escaped(path)).append('\n'));
        });
        return text.append('\n').toString();
    }

    /** The answer to wchp. */
    String ofPaths() {
        SortedMap<String, Set<Long>> byPath = new TreeMap<>();
        bySession.forEach((id, paths) -> paths.forEach(
                path -> byPath.computeIfAbsent(path, absent -> new TreeSet<>()).add(id)));
        StringBuilder text = new StringBuilder();
        byPath.forEach((path, ids) -> {
            text.append(AuditLine.escaped(path)).append('\n');
            ids.forEach(id -> text.append('\t').append(hex(id)).append('\n'));
        });
        return text.append('\n').toString();
    }

    private static String hex(long sessionId) {
        return "0x" + Long.toHexString(sessionId);
    }
}
