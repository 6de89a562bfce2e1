package io.conclave.connection;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The paths that have recursive watches, and their watchers. Those that a path is below are found in one pass over its
 * characters: a path of 16 kB may have 256 ancestors, and to look each of them up by its name would hash 2 MB. Belongs
 * to the loop.
 *
 * <p>The hash is the polynomial whose coefficients are the characters, at a point that nobody knows, modulo a prime: so
 * strangers cannot choose paths that have one hash.
 */
final class RecursivePaths {
    private static final int BITS = 61;
    private static final long PRIME = (1L << BITS) - 1;
    private static final long POINT = new SecureRandom().nextLong() >>> (Long.SIZE - BITS);

    private static final class Watched {
        final String path;

        /** Of the path, with any watch. */
        final Map<WatchTable.Watcher, Integer> watchers;

        /** How many of them have a recursive one. */
        int count;

        Watched(String path, Map<WatchTable.Watcher, Integer> watchers) {
            this.path = path;
            this.watchers = watchers;
        }
    }

    private final Map<Long, List<Watched>> byHash = new HashMap<>();

    /**
     * One more watcher of a path has a recursive watch.
     *
     * @param watchers of the path, the same object as long as one of them has
     */
    void add(String path, Map<WatchTable.Watcher, Integer> watchers) {
        List<Watched> all = byHash.computeIfAbsent(hashOf(path), hash -> new ArrayList<>(1));
        Watched watched = find(all, path).orElseGet(() -> {
            Watched made = new Watched(path, watchers);
            all.add(made);
            return made;
        });
        watched.count++;
    }

    /** One of them has none any more. */
    void remove(String path) {
        byHash.computeIfPresent(hashOf(path), (hash, all) -> {
            find(all, path).ifPresent(watched -> watched.count--);
            all.removeIf(watched -> watched.count == 0);
            return all.isEmpty() ? null : all;
        });
    }

    private static Optional<Watched> find(List<Watched> all, String path) {
        return all.stream().filter(watched -> watched.path.equals(path)).findFirst();
    }

    boolean isEmpty() {
        return byHash.isEmpty();
    }

    /** The watchers of the ancestors of a path, the nearest first. */
    List<Map<WatchTable.Watcher, Integer>> above(String path) {
        List<Map<WatchTable.Watcher, Integer>> found = new ArrayList<>();
        long hash = 0;
        for (int end = 0; end < path.length(); end++) {
            char next = path.charAt(end);
            if (end == 1 || (end > 1 && next == '/')) {
                List<Watched> all = byHash.get(hash);
                if (all != null) {
                    find(all, path.substring(0, end)).ifPresent(watched -> found.add(watched.watchers));
                }
            }
            hash = with(hash, next);
        }
        Collections.reverse(found);
        return found;
    }

    private static long hashOf(String path) {
        long hash = 0;
        for (int i = 0; i < path.length(); i++) {
            hash = with(hash, path.charAt(i));
        }
        return hash;
    }

    /** hash * POINT + next + 1, modulo 2^61 - 1, which 2^61 is one of. */
    private static long with(long hash, char next) {
        long low = hash * POINT;
        long high = (Math.multiplyHigh(hash, POINT) << (Long.SIZE - BITS)) | (low >>> BITS);
        long sum = (low & PRIME) + high + next + 1;
        long folded = (sum & PRIME) + (sum >>> BITS);
        return folded >= PRIME ? folded - PRIME : folded;
    }
}
