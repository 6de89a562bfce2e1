package io.conclave.tree;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The state with which a new cluster begins that goes on with the data of an earlier one. No number goes back: the
 * generation is raised, and the zxids go on above any that the earlier cluster can have given since. Its sessions have
 * ended, and their ephemerals with them, as if each had been closed; all else stays, with its versions, sequence
 * counters, ACLs and times to live.
 */
public final class RestoredState {
    /**
     * So many epochs of zxids are left out. The earlier cluster takes one for each term and for each 4 billion changes,
     * so it would have to elect a leader each second for 12 days. A client that has seen a larger zxid than a server's
     * newest one is turned away as ahead of it, instead of hearing that its session has ended. There is room for 2,000
     * restores in a row.
     */
    static final long EPOCHS_LEFT_OUT = 1 << 20;

    private RestoredState() {}

    /**
     * Makes it.
     *
     * @param from the earlier cluster's state
     * @param clusterId of the new cluster, another one
     * @param generation of the new cluster's numbers, greater than the earlier one's
     * @param members the data of {@code /zookeeper/config}, without the version
     * @throws IllegalArgumentException if a number would go back, or there is no epoch left
     */
    public static TreeState of(TreeState from, UUID clusterId, long generation, String members) {
        if (generation <= from.generation()) {
            throw new IllegalArgumentException("Invalid generation " + generation + ": it must be greater than "
                    + from.generation() + ", that of the backup");
        }
        if (clusterId.equals(from.clusterId())) {
            throw new IllegalArgumentException("A new cluster needs another id than " + clusterId);
        }
        TreeState.Header header = new TreeState.Header(
                clusterId,
                generation,
                from.featureLevel(),
                from.term(),
                Tree.firstOfEpoch(from.epoch() + EPOCHS_LEFT_OUT),
                from.lastTimeMs());
        TreeState state = new TreeState(header, from.root(), from.sessions(), from.reaped(), from.totals());
        for (long session : sessionsOf(from)) {
            state = Tree.apply(
                            state,
                            new Change.CloseSession(session, Change.ANY_ATTACHMENT, Change.CloseReason.OPERATOR),
                            from.lastTimeMs())
                    .state();
        }
        return Tree.apply(state, new Change.Configure(members), from.lastTimeMs())
                .state();
    }

    private static List<Long> sessionsOf(TreeState state) {
        List<Long> ids = new ArrayList<>();
        for (Map.Entry<Long, SessionRecord> entry : state.sessions()) {
            ids.add(entry.getKey());
        }
        return ids;
    }
}
