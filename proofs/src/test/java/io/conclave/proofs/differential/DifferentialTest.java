package io.conclave.proofs.differential;

import static org.junit.jupiter.api.Assertions.fail;

import io.conclave.proofs.interop.ApacheZooKeeper;
import io.conclave.proofs.interop.StandaloneConclave;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.SyncRequest;
import org.junit.jupiter.api.Test;

/**
 * The same random requests to our server and to Apache ZooKeeper, and every frame that comes back compared: error
 * codes, results, Stats but for their times, watch events, and their order. Change numbers and session ids are compared
 * by the order in which they first appear.
 *
 * <p>{@code -Ddifferential.operations=N} sends more, {@code -Ddifferential.seed=N} the same again. What differs on
 * purpose is not drawn, and is listed in docs/divergence.md.
 */
class DifferentialTest {
    private static final int SESSIONS = 3;
    private static final long NO_CONTAINERS_DELETED_MS = 3_600_000;
    private static final int OPERATIONS_PER_BASE = 300;

    private final int operations = Integer.getInteger("differential.operations", 3000);
    private final long seed = Long.getLong("differential.seed", new Random().nextLong());
    private final Random random = new Random(seed);
    private final RandomOperations drawn = new RandomOperations(random);
    private final List<String> story = new ArrayList<>();
    private int nextXid = 1;

    @Test
    void bothServersSayTheSame() throws Exception {
        System.out.println("differential.seed=" + seed + " differential.operations=" + operations);
        try (StandaloneConclave conclave = new StandaloneConclave(NO_CONTAINERS_DELETED_MS);
                ApacheZooKeeper zooKeeper = new ApacheZooKeeper()) {
            Subject ours = new Subject(conclave.port(), SESSIONS);
            Subject theirs = new Subject(zooKeeper.port(), SESSIONS);
            try {
                compare(ours, theirs);
            } finally {
                ours.drop();
                theirs.drop();
            }
        }
    }

    private void compare(Subject ours, Subject theirs) throws IOException {
        int session = 0;
        int done = 0;
        int bases = 0;
        while (done < operations) {
            if (done >= bases * OPERATIONS_PER_BASE) {
                both(ours, theirs, session, List.of(drawn.moveTo("/base" + bases++, nextXid++)));
            }
            int dice = random.nextInt(100);
            if (dice < 30) {
                session = random.nextInt(SESSIONS);
                both(ours, theirs, session, List.of(sync()));
            } else if (dice < 32) {
                resume(ours, theirs, session);
            } else if (dice < 34) {
                closeAndOpen(ours, theirs, session);
            }
            List<RandomOperations.Request> batch = batch();
            done += batch.size();
            both(ours, theirs, session, batch);
        }
    }

    private List<RandomOperations.Request> batch() {
        List<RandomOperations.Request> batch = new ArrayList<>();
        int size = random.nextInt(3) == 0 ? 2 + random.nextInt(6) : 1;
        for (int i = 0; i < size; i++) {
            RandomOperations.Request request = drawn.next(nextXid++);
            if (request.type() == OpCode.auth) {
                return List.of(request); // theirs answers it out of turn
            }
            batch.add(request);
            if (request.type() == OpCode.setACL) {
                return batch; // to requests close behind, theirs may apply the old list
            }
        }
        return batch;
    }

    private RandomOperations.Request sync() {
        return new RandomOperations.Request(nextXid++, OpCode.sync, names -> new SyncRequest("/"));
    }

    private void both(Subject ours, Subject theirs, int session, List<RandomOperations.Request> requests)
            throws IOException {
        requests.forEach(request -> story.add("session " + session + ": " + request));
        same(ours.exchange(session, requests), theirs.exchange(session, requests));
    }

    private void resume(Subject ours, Subject theirs, int session) throws IOException {
        story.add("session " + session + ": resume");
        same(List.of(ours.resume(session)), List.of(theirs.resume(session)));
    }

    /** The others hear of the ephemeral nodes that go; no order is promised. */
    private void closeAndOpen(Subject ours, Subject theirs, int session) throws IOException {
        RandomOperations.Request close =
                new RandomOperations.Request(nextXid++, OpCode.closeSession, names -> new SyncRequest(""));
        bothInAnyOrder(ours, theirs, session, close);
        for (int other = 0; other < SESSIONS; other++) {
            if (other != session) {
                bothInAnyOrder(ours, theirs, other, sync());
            }
        }
        story.add("session " + session + ": open");
        same(List.of(ours.reopen(session)), List.of(theirs.reopen(session)));
    }

    private void bothInAnyOrder(Subject ours, Subject theirs, int session, RandomOperations.Request request)
            throws IOException {
        story.add("session " + session + ": " + request);
        same(sorted(ours.exchange(session, List.of(request))), sorted(theirs.exchange(session, List.of(request))));
    }

    private static List<String> sorted(List<String> frames) {
        List<String> sorted = new ArrayList<>(frames);
        Collections.sort(sorted);
        return sorted;
    }

    private void same(List<String> ours, List<String> theirs) {
        if (ours.equals(theirs)) {
            theirs.forEach(frame -> story.add("    " + frame));
            return;
        }
        List<String> last = story.subList(Math.max(0, story.size() - 60), story.size());
        fail("seed " + seed + ", after " + story.size() + " lines:\n" + String.join("\n", last) + "\n  ours:   "
                + String.join("\n          ", ours) + "\n  theirs: " + String.join("\n          ", theirs));
    }
}
