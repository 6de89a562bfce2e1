package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Lists what the connections of a loop watch, part by part: each path as it is watched in the moment when its turn
 * comes. Belongs to the loop.
 */
final class WatchListing {
    private static final int PATHS_OF_A_TURN = 2_000;
    private static final int PATHS_COPIED_LIKE_ONE = 50;
    private static final Duration BETWEEN_TURNS = Duration.ofMillis(1);

    private final Loop loop;
    private final TimeSource time;
    private final Deque<ClientConnection> left;
    private final Map<Long, List<String>> bySession = new HashMap<>();
    private final CompletableFuture<Map<Long, List<String>>> done;
    private @Nullable ClientConnection present;
    /** Those of the present connection that have not been looked at. */
    private Iterator<String> paths = Collections.emptyIterator();

    private List<String> listed = List.of();

    private WatchListing(Loop loop, TimeSource time, CompletableFuture<Map<Long, List<String>>> done) {
        this.loop = loop;
        this.time = time;
        this.done = done;
        this.left = new ArrayDeque<>(loop.connections().all());
    }

    /**
     * Begins a list. From any thread.
     *
     * @return the paths that each session watches, but for those of which it watches the list of children only, in no
     *     order; completes on the loop
     */
    static CompletionStage<Map<Long, List<String>>> of(Loop loop, TimeSource time) {
        CompletableFuture<Map<Long, List<String>>> done = new CompletableFuture<>();
        loop.post(() -> new WatchListing(loop, time, done).advance());
        return done;
    }

    private void advance() {
        try {
            for (int work = 0; work < PATHS_OF_A_TURN; ) {
                if (present != null) {
                    work += goOn(present);
                } else if (left.isEmpty()) {
                    done.complete(bySession);
                    return;
                } else {
                    work += begin(left.remove());
                }
            }
            time.schedule(BETWEEN_TURNS, () -> loop.post(this::advance));
        } catch (RuntimeException | Error e) {
            done.completeExceptionally(e);
        }
    }

    private int begin(ClientConnection connection) {
        List<String> all = connection.watched().all();
        present = connection;
        paths = all.iterator();
        listed = new ArrayList<>();
        return 1 + all.size() / PATHS_COPIED_LIKE_ONE;
    }

    /** The watches of a connection that has gone meanwhile are no more. */
    private int goOn(ClientConnection connection) {
        if (connection.isGone() || !paths.hasNext()) {
            if (!connection.isGone() && !listed.isEmpty()) {
                bySession.put(connection.sessionId(), listed);
            }
            present = null;
            return 1;
        }
        String path = paths.next();
        if (loop.watches().contains(path, connection, WatchTable.ANY & ~WatchTable.CHILDREN)) {
            listed.add(path);
        }
        return 1;
    }
}
