package io.conclave.testkit.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import io.conclave.spi.Capability;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Znodes with a time to live. */
abstract class TtlPromises extends AccessPromises {
    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration SHORT = Duration.ofMillis(1);
    private static final Duration RENEWED = Duration.ofMillis(1500);

    private int probes;

    /** An ensemble that was just bootstrapped offers them when all its members have said that they know them. */
    private SessionProbe openWhereTheyAreOffered() {
        needs(Capability.TTL);
        SessionProbe session = open();
        await().until(() -> isOffered(session));
        return session;
    }

    private boolean isOffered(SessionProbe session) {
        try {
            session.ask(Create.of(path("probe-" + probes++)).withTtl(LONG));
            return true;
        } catch (RefusedException e) {
            assertEquals(RefusalReason.UNSUPPORTED, e.reason(), e.getMessage());
            return false;
        }
    }

    private SessionProbe openWhereTheyGoSoon() {
        Assumptions.assumeTrue(deletesSoon(), "the store looks too seldom for what it has to delete");
        return openWhereTheyAreOffered();
    }

    private static boolean isGone(SessionProbe session, NodePath path) {
        return session.ask(Exists.of(path)).isEmpty();
    }

    @Test
    void aZnodeWithATimeToLiveIsNotEphemeralAndMayHaveChildren() {
        SessionProbe session = openWhereTheyAreOffered();
        SessionProbe creator = open();
        NodeStat stat =
                creator.ask(Create.of(path("t")).withTtl(Create.MAX_TTL)).stat();
        assertFalse(stat.isEphemeral());
        creator.ask(Create.of(path("t").child("a")));
        creator.ask(Create.of(path("t").child("e")).withMode(CreateMode.EPHEMERAL));
        SessionProbe.await("close", creator.session.closeAsync());
        session.session.submit(Sync.of(path("t"))); // the server of this session may lag
        assertEquals(List.of("a"), session.ask(GetChildren.of(path("t"))).names());
        assertEquals(0, session.ask(Exists.of(path("t"))).orElseThrow().ephemeralOwner());
    }

    @Test
    void aSequentialZnodeMayHaveATimeToLive() {
        SessionProbe session = openWhereTheyAreOffered();
        session.ask(Create.of(path("p")));
        session.ask(Create.of(path("p").child("first")));
        Create.Created created = session.ask(Create.of(path("p").child("s-"))
                .withMode(CreateMode.PERSISTENT_SEQUENTIAL)
                .withTtl(LONG));
        assertEquals(path("p").child("s-0000000001"), created.path());
        assertFalse(created.stat().isEphemeral());
    }

    @Test
    void aTransactionCreatesZnodesWithATimeToLive() {
        SessionProbe session = openWhereTheyAreOffered();
        List<Multi.Result> results = session.ask(Multi.of(
                Create.of(path("t")).withTtl(LONG),
                Create.of(path("t").child("s-"))
                        .withMode(CreateMode.PERSISTENT_SEQUENTIAL)
                        .withTtl(LONG)));
        assertEquals(
                Optional.of(path("t").child("s-0000000000")), results.get(1).path());
    }

    @Test
    void aZnodeGoesAfterItsTimeToLiveAndChildrenKeepIt() {
        SessionProbe session = openWhereTheyGoSoon();
        NodePath kept = path("kept");
        session.ask(Multi.of(
                Create.of(kept).withTtl(SHORT),
                Create.of(kept.child("a")),
                Create.of(path("t")).withTtl(SHORT),
                Create.of(path("long")).withTtl(LONG)));
        await().until(() -> isGone(session, path("t")));
        assertFalse(isGone(session, kept));
        session.ask(Delete.of(kept.child("a")));
        await().until(() -> isGone(session, kept));
        assertFalse(isGone(session, path("long")));
    }

    /** By the store's times alone: on a busy machine the test may be too slow to renew it, and begins again. */
    @Test
    void newDataRenewTheTimeToLive() {
        SessionProbe session = openWhereTheyGoSoon();
        await().until(() -> outlivesTwiceItsTime(session, path("renewed-" + probes++)));
    }

    private boolean outlivesTwiceItsTime(SessionProbe session, NodePath path) {
        NodeStat stat = session.ask(Create.of(path).withTtl(RENEWED)).stat();
        while (stat.mtimeMs() - stat.ctimeMs() <= 2 * RENEWED.toMillis()) {
            try {
                stat = session.ask(SetData.of(path, bytes("renewed")));
            } catch (RefusedException e) {
                assertEquals(RefusalReason.NO_NODE, e.reason(), e.getMessage());
                long goneByMs = session.ask(Create.of(path)).stat().ctimeMs();
                assertTrue(goneByMs - stat.mtimeMs() > RENEWED.toMillis(), "it went too early: " + stat);
                return false;
            }
        }
        return true;
    }
}
