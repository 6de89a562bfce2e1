package io.conclave.server;

import io.conclave.tree.SessionRecord;
import io.conclave.tree.TreeState;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The sessions and their ephemeral znodes, in ZooKeeper's form.
 *
 * @param state the replicated state
 * @param remainingMs how long each session has until it is found silent, as far as this server knows
 * @param tickMs sessions are gathered by the tick in which they would expire
 * @param nowMs the wall clock
 */
record SessionReport(TreeState state, SortedMap<Long, Long> remainingMs, int tickMs, long nowMs) {
    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("EEE MMM dd HH:mm:ss zzz yyyy", Locale.US)
            .withZone(ZoneId.systemDefault());

    /** The answer to dump where the server leads: only there it is known when sessions expire. */
    String ofLeader() {
        SortedMap<Long, List<Long>> byTick = new TreeMap<>();
        remainingMs.forEach((id, left) -> byTick.computeIfAbsent(
                        ((nowMs + left) / tickMs + 1) * tickMs, absent -> new ArrayList<>())
                .add(id));
        StringBuilder text = new StringBuilder("SessionTracker dump:\nSession Sets (")
                .append(byTick.size())
                .append(")/(")
                .append(remainingMs.size())
                .append("):\n");
        byTick.forEach((atMs, ids) -> {
            text.append(ids.size()).append(" expire at ").append(DATE.format(Instant.ofEpochMilli(atMs)));
            text.append(":\n");
            ids.forEach(id -> text.append('\t').append(hex(id)).append('\n'));
        });
        return text.append(ephemerals()).toString();
    }

    /** The answer to dump on another member. */
    String ofFollower() {
        StringBuilder text = new StringBuilder("SessionTracker dump:\nGlobal Sessions(")
                .append(state.sessions().size())
                .append("):\n");
        SortedMap<Long, Integer> timeouts = new TreeMap<>();
        for (Map.Entry<Long, SessionRecord> session : state.sessions()) {
            timeouts.put(session.getKey(), session.getValue().timeoutMs());
        }
        timeouts.forEach((id, timeoutMs) ->
                text.append(hex(id)).append('\t').append(timeoutMs).append("ms\n"));
        return text.append(ephemerals()).toString();
    }

    /** As on a ZooKeeper with Netty, the last line has nothing below it: connections expire with their sessions. */
    private String ephemerals() {
        SortedMap<Long, List<String>> owned = new TreeMap<>();
        for (Map.Entry<Long, SessionRecord> session : state.sessions()) {
            List<String> paths = new ArrayList<>();
            session.getValue().ephemerals().forEach(paths::add);
            if (!paths.isEmpty()) {
                paths.sort(null);
                owned.put(session.getKey(), paths);
            }
        }
        StringBuilder text = new StringBuilder("ephemeral nodes dump:\nSessions with Ephemerals (")
                .append(owned.size())
                .append("):\n");
        owned.forEach((id, paths) -> {
            text.append(hex(id)).append(":\n");
            paths.forEach(path -> text.append('\t').append(path).append('\n'));
        });
        return text.append("Connections dump:\n").toString();
    }

    private static String hex(long sessionId) {
        return "0x" + Long.toHexString(sessionId);
    }
}
