package io.conclave.line;

import io.conclave.coordinator.RecipeSession;
import io.conclave.node.NodePath;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The places of one session that are being given up: whoever enters a line only if it is free is not refused for the sake of one whose deletion is under way, as after a
 * wait that was interrupted, or a release that the connection's loss has delayed.
 *
 * <p>State belongs to the session's dispatcher.
 */
final class DepartingPlaces {
    private final Map<NodePath, List<Departure>> byLine = new HashMap<>();

    /** Those of a session. */
    static DepartingPlaces of(RecipeSession session) {
        return session.keep(DepartingPlaces.class, DepartingPlaces::new);
    }

    /** This one has begun. */
    void add(NodePath line, Departure departure) {
        byLine.computeIfAbsent(line, path -> new ArrayList<>()).add(departure);
        departure.done().thenRun(() -> remove(line, departure));
    }

    private void remove(NodePath line, Departure departure) {
        byLine.computeIfPresent(line, (path, departures) -> {
            departures.remove(departure);
            return departures.isEmpty() ? null : departures;
        });
    }

    /** Completes when a place has gone, if it is one that is being given up. */
    Optional<CompletionStage<Void>> endOf(NodePath line, LineEntry place) {
        return byLine.getOrDefault(line, List.of()).stream()
                .filter(departure -> departure.isOf(place))
                .map(Departure::done)
                .findFirst();
    }
}
