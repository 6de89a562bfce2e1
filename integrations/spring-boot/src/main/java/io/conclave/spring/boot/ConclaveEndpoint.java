package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.metrics.Ongoing;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * The actuator's endpoint {@code conclave}: what this application holds and awaits, the elections that it takes part
 * in, and its sessions. It asks no server and never blocks.
 */
@Endpoint(id = "conclave")
public final class ConclaveEndpoint {
    /** How many holds, and how many waits, are listed at most: the oldest ones. */
    public static final int LIMIT = 1000;

    private final Map<String, Coordinator> coordinators;
    private final ConclaveActivity activity;
    private final Supplier<List<Election>> elections;

    ConclaveEndpoint(
            Map<String, Coordinator> coordinators, ConclaveActivity activity, Supplier<List<Election>> elections) {
        this.coordinators = coordinators;
        this.activity = activity;
        this.elections = elections;
    }

    /**
     * All of it.
     *
     * @param sessions by the names of the coordinators' beans
     * @param heldCount how many holds there are, listed or not
     * @param awaitedCount how many waits there are, listed or not
     */
    public record Overview(
            Map<String, Session> sessions,
            List<Election> elections,
            int heldCount,
            List<Hold> held,
            int awaitedCount,
            List<Wait> awaited) {
        /** Copies the lists. */
        public Overview {
            sessions = Map.copyOf(sessions);
            elections = List.copyOf(elections);
            held = List.copyOf(held);
            awaited = List.copyOf(awaited);
        }
    }

    /**
     * A session.
     *
     * @param reason why it is not connected
     */
    public record Session(String state, @Nullable String reason) {}

    /**
     * An election that this application takes part in.
     *
     * @param token of the leadership, if it leads
     */
    public record Election(
            String path, boolean leader, @Nullable String token) {}

    /**
     * Something that is held.
     *
     * @param recipe such as {@code lock}
     * @param age how long, as in {@code PT3.5S}
     */
    public record Hold(
            String recipe,
            String path,
            String age,
            @Nullable String token,
            @Nullable String znode) {}

    /**
     * Something that is awaited.
     *
     * @param recipe such as {@code lock}
     * @param age how long, as in {@code PT3.5S}
     * @param obstacle who or what is in the way, as far as it is known
     */
    public record Wait(
            String recipe,
            String path,
            String age,
            @Nullable String obstacle) {}

    /** What there is now. */
    @ReadOperation
    public Overview overview() {
        Map<String, Session> sessions = new TreeMap<>();
        coordinators.forEach((name, coordinator) -> {
            CoordinatorStatus status = CoordinatorStatus.of(coordinator);
            sessions.put(
                    name, new Session(status.state().name(), status.reason().orElse(null)));
        });
        List<ConclaveActivity.Activity> held = activity.held();
        List<ConclaveActivity.Activity> awaited = activity.awaited();
        return new Overview(
                sessions,
                elections.get(),
                held.size(),
                held.stream().limit(LIMIT).map(ConclaveEndpoint::hold).toList(),
                awaited.size(),
                awaited.stream().limit(LIMIT).map(ConclaveEndpoint::await).toList());
    }

    private static Hold hold(ConclaveActivity.Activity one) {
        return new Hold(
                one.recipe(),
                one.subject(),
                one.age().toString(),
                one.valueOf(Ongoing.TOKEN).orElse(null),
                one.valueOf(Ongoing.ZNODE).orElse(null));
    }

    private static Wait await(ConclaveActivity.Activity one) {
        return new Wait(
                one.recipe(),
                one.subject(),
                one.age().toString(),
                one.obstacle().orElse(null));
    }
}
