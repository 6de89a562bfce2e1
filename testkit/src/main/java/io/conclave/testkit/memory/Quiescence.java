package io.conclave.testkit.memory;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import java.util.Collection;

/**
 * The end of what coordinators of one store do, found by round trips and not by a time without requests, which a busy
 * machine makes as long as it likes.
 *
 * <p>A session's events and replies come in order: when a round trip is answered, the session has handled every event
 * that was reported to it before, and has sent what it sends on that. If a round of all sessions saw no other request,
 * no session has anything to do; a second round covers what the first session was told while the last one answered.
 */
public final class Quiescence {
    private static final int ROUNDS = 2;

    private Quiescence() {}

    /**
     * Waits until the coordinators have nothing to do. There are no timers in it: what only time would set going is not
     * waited for.
     *
     * @return how many requests this has sent by itself; each asks whether the root exists
     */
    public static long await(Faults faults, Collection<Coordinator> coordinators) throws InterruptedException {
        long sent = 0;
        int quiet = 0;
        while (quiet < ROUNDS) {
            long before = faults.requestCount();
            for (Coordinator coordinator : coordinators) {
                coordinator.execute(Exists.of(NodePath.ROOT));
            }
            sent += coordinators.size();
            quiet = faults.requestCount() == before + coordinators.size() ? quiet + 1 : 0;
        }
        return sent;
    }
}
