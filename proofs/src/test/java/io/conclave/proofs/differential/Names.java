package io.conclave.proofs.differential;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What one server calls a change or a session, in words that are the same on both: numbers in the order in which they
 * were first seen.
 */
final class Names {
    private final Map<Long, String> zxidNames = new HashMap<>();
    private final List<Long> zxids = new ArrayList<>();
    private final Map<Long, String> sessionNames = new HashMap<>(Map.of(0L, "none"));

    /** A zxid in the header of a reply or event: a new one must be larger than all before. */
    String seen(long zxid) {
        String known = zxidNames.get(zxid);
        if (known != null || zxid <= 0) {
            return zxid(zxid);
        }
        String order = zxids.isEmpty() || zxid > last() ? "" : " which goes back!";
        zxids.add(zxid);
        String name = "z" + zxids.size();
        zxidNames.put(zxid, name);
        return name + order;
    }

    /**
     * A zxid that one server spends on something that costs the other none: it goes by the name of the change before
     * it.
     */
    String unnamed(long zxid) {
        if (zxid > last() && !zxids.isEmpty()) {
            zxidNames.putIfAbsent(zxid, zxidNames.get(last()));
        }
        return zxid(zxid);
    }

    /** A zxid in a Stat. */
    String zxid(long zxid) {
        return zxid <= 0 ? Long.toString(zxid) : zxidNames.getOrDefault(zxid, "unseen");
    }

    long last() {
        return zxids.isEmpty() ? 0 : zxids.get(zxids.size() - 1);
    }

    /** The zxid that is so many changes ago. */
    long ago(int changes) {
        return zxids.isEmpty() ? 0 : zxids.get(Math.max(0, zxids.size() - 1 - changes));
    }

    void session(long id) {
        sessionNames.putIfAbsent(id, "s" + sessionNames.size());
    }

    String sessionName(long id) {
        return sessionNames.getOrDefault(id, "unknown session");
    }
}
