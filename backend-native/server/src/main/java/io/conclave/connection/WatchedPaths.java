package io.conclave.connection;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The paths that one connection watches, and what that takes. Belongs to the connection's loop. */
final class WatchedPaths {
    /** The entries of a path in the tables, with their share of these, and the heads of the path's own two objects. */
    private static final int ENTRY_BYTES = 256;

    /** However many watches others have, so much each connection may have. */
    static final long ASSURED_BYTES = 16 << 10;

    private final LimitGuard guard;
    /** In order, so that some of them can be taken without a search for those that are left. */
    private final Set<String> paths = new LinkedHashSet<>();

    private long bytes;

    WatchedPaths(LimitGuard guard) {
        this.guard = guard;
    }

    /** What it takes to watch a path; as if each of its characters took two bytes, though most take one. */
    static long bytesOf(String path) {
        return ENTRY_BYTES + 2L * path.length();
    }

    /** Whether there is room for another path; if not, the refusal is counted and logged. */
    boolean admits(String path, Object connection) {
        long more = bytesOf(path);
        if (!guard.allows(ClientLimit.WATCHES, paths.size() + 1L)) {
            guard.refused(ClientLimit.WATCHES, "a watch of " + connection + ": it has " + paths.size() + " watches");
            return false;
        }
        if (!guard.allows(ClientLimit.WATCH_BYTES_OF_CONNECTION, bytes + more)) {
            guard.refused(
                    ClientLimit.WATCH_BYTES_OF_CONNECTION,
                    "a watch of " + connection + ": its watches would take " + (bytes + more) + " bytes");
            return false;
        }
        if (bytes + more > ASSURED_BYTES && !guard.allows(ClientLimit.WATCH_BYTES, guard.watchBytes() + more)) {
            guard.refused(
                    ClientLimit.WATCH_BYTES,
                    "a watch of " + connection + ": all watches of this server would take "
                            + (guard.watchBytes() + more) + " bytes");
            return false;
        }
        return true;
    }

    void add(String path) {
        if (paths.add(path)) {
            count(bytesOf(path));
        }
    }

    void remove(String path) {
        if (paths.remove(path)) {
            count(-bytesOf(path));
        }
    }

    private void count(long more) {
        bytes += more;
        guard.watching(more);
    }

    int size() {
        return paths.size();
    }

    /** A copy of the first ones. */
    List<String> some(int most) {
        return paths.stream().limit(most).toList();
    }

    /** A copy. */
    List<String> all() {
        return List.copyOf(paths);
    }
}
