package io.conclave.testkit.contract;

import static io.conclave.error.RefusalReason.BAD_ARGUMENTS;
import static io.conclave.error.RefusalReason.BAD_VERSION;
import static io.conclave.error.RefusalReason.NODE_EXISTS;
import static io.conclave.error.RefusalReason.NOT_EMPTY;
import static io.conclave.error.RefusalReason.NO_CHILDREN_FOR_EPHEMERALS;
import static io.conclave.error.RefusalReason.NO_NODE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.RefusedException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.spi.Capability;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Znodes, versions, numbers and transactions. */
abstract class TreePromises extends ContractSupport {
    @Test
    void aCreatedNodeIsReadBackWithItsDataAndStat() {
        SessionProbe session = open();
        Create.Created created = session.ask(Create.of(path("a")).withData(bytes("hello")));
        GetData.NodeData read = session.ask(GetData.of(path("a")));

        assertEquals(path("a"), created.path());
        assertArrayEquals(bytes("hello"), read.data());
        assertEquals(created.stat(), read.stat());
        NodeStat stat = read.stat();
        assertEquals(stat.czxid(), stat.mzxid());
        assertEquals(stat.czxid(), stat.pzxid());
        assertEquals(0, stat.version());
        assertEquals(0, stat.cversion());
        assertEquals(0, stat.aversion());
        assertEquals(5, stat.dataLength());
        assertEquals(0, stat.numChildren());
        assertFalse(stat.isEphemeral());
    }

    @Test
    void aNodeWithoutDataReadsAsEmpty() {
        SessionProbe session = open();
        session.ask(Create.of(path("a")));
        assertEquals(0, session.ask(GetData.of(path("a"))).data().length);
    }

    @Test
    void namesMayBeOfAnyLanguage() {
        SessionProbe session = open();
        session.ask(Create.of(path("Schloß-замо́к-錠")));
        assertEquals(
                List.of("Schloß-замо́к-錠"), session.ask(GetChildren.of(base())).names());
    }

    @Test
    void requestsForAMissingNodeAreRefusedAndExistsAnswersEmpty() {
        SessionProbe session = open();
        NodePath missing = path("missing");
        assertTrue(session.ask(Exists.of(missing)).isEmpty());
        assertEquals(NO_NODE, session.refused(GetData.of(missing)));
        assertEquals(NO_NODE, session.refused(GetChildren.of(missing)));
        assertEquals(NO_NODE, session.refused(SetData.of(missing, bytes("x"))));
        assertEquals(NO_NODE, session.refused(Delete.of(missing)));
        assertEquals(NO_NODE, session.refused(Create.of(missing.child("a"))));
    }

    @Test
    void aNodeIsCreatedOnce() {
        SessionProbe session = open();
        session.ask(Create.of(path("a")).withData(bytes("first")));
        assertEquals(NODE_EXISTS, session.refused(Create.of(path("a")).withData(bytes("second"))));
        assertArrayEquals(bytes("first"), session.ask(GetData.of(path("a"))).data());
    }

    @Test
    void aNodeWithChildrenCannotBeDeleted() {
        SessionProbe session = open();
        session.ask(Create.of(path("a")));
        session.ask(Create.of(path("a").child("b")));
        assertEquals(NOT_EMPTY, session.refused(Delete.of(path("a"))));
        session.ask(Delete.of(path("a").child("b")));
        session.ask(Delete.of(path("a")));
        assertTrue(session.ask(Exists.of(path("a"))).isEmpty());
    }

    @Test
    void theRootCannotBeDeleted() {
        assertEquals(BAD_ARGUMENTS, open().refused(Delete.of(NodePath.ROOT)));
    }

    @Test
    void versionsCountTheSetsAndAWrongOneIsRefused() {
        SessionProbe session = open();
        long created = session.ask(Create.of(path("a"))).stat().czxid();
        NodeStat first = session.ask(SetData.of(path("a"), bytes("1")).withVersion(0));
        assertEquals(1, first.version());
        assertEquals(created, first.czxid());
        assertTrue(first.mzxid() > created);

        assertEquals(
                BAD_VERSION, session.refused(SetData.of(path("a"), bytes("2")).withVersion(0)));
        assertEquals(BAD_VERSION, session.refused(Delete.of(path("a")).withVersion(0)));
        assertEquals(2, session.ask(SetData.of(path("a"), bytes("2"))).version());
        session.ask(Delete.of(path("a")).withVersion(2));
    }

    @Test
    void theParentCountsItsChildrenAndTheirChanges() {
        SessionProbe session = open();
        session.ask(Create.of(path("p")));
        session.ask(Create.of(path("p").child("a")));
        long second = session.ask(Create.of(path("p").child("b"))).stat().czxid();
        GetChildren.Children both = session.ask(GetChildren.of(path("p")));
        assertEquals(Set.of("a", "b"), Set.copyOf(both.names()));
        assertEquals(2, both.stat().numChildren());
        assertEquals(2, both.stat().cversion());
        assertEquals(second, both.stat().pzxid());

        session.ask(Delete.of(path("p").child("a")));
        NodeStat after = session.ask(GetChildren.of(path("p"))).stat();
        assertEquals(1, after.numChildren());
        assertEquals(3, after.cversion());
        assertTrue(after.pzxid() > second);
    }

    @Test
    void aSequentialNameCarriesTheNumberOfChildrenEverCreated() {
        SessionProbe session = open();
        Create sequential = Create.of(path("s-")).withMode(CreateMode.PERSISTENT_SEQUENTIAL);
        assertEquals(path("s-0000000000"), session.ask(sequential).path());
        session.ask(Create.of(path("plain")));
        NodePath third = session.ask(sequential.withMode(CreateMode.EPHEMERAL_SEQUENTIAL))
                .path();
        assertEquals(path("s-0000000002"), third);

        session.ask(Delete.of(third));
        session.ask(Delete.of(path("plain")));
        assertEquals(path("s-0000000003"), session.ask(sequential).path(), "no number is used twice");
    }

    @Test
    void manySessionsNeverGetTheSameNumber() {
        List<CompletionStage<Create.Created>> stages = new ArrayList<>();
        Create create = Create.of(path("n-")).withMode(CreateMode.EPHEMERAL_SEQUENTIAL);
        List<SessionProbe> sessions = List.of(open(), open(), open());
        for (int i = 0; i < 30; i++) {
            sessions.forEach(session -> stages.add(session.session.submit(create)));
        }
        Set<NodePath> paths = new HashSet<>();
        stages.forEach(stage -> paths.add(SessionProbe.await("create", stage).path()));
        assertEquals(90, paths.size());
    }

    @Test
    void anEphemeralNodeNamesItsSessionAndHasNoChildren() {
        SessionProbe session = open();
        NodeStat stat =
                session.ask(Create.of(path("e")).withMode(CreateMode.EPHEMERAL)).stat();
        assertEquals(session.session.id(), stat.ephemeralOwner());
        assertEquals(
                NO_CHILDREN_FOR_EPHEMERALS, session.refused(Create.of(path("e").child("a"))));
    }

    @Test
    void aContainerIsAParentLikeAnyOther() {
        needs(Capability.CONTAINERS);
        SessionProbe session = open();
        NodeStat stat =
                session.ask(Create.of(path("c")).withMode(CreateMode.CONTAINER)).stat();
        assertFalse(stat.isEphemeral());
        session.ask(Create.of(path("c").child("a")).withMode(CreateMode.EPHEMERAL));
        assertEquals(List.of("a"), session.ask(GetChildren.of(path("c"))).names());
    }

    @Test
    void aMegabyteIsTheLimitAndMoreIsRefusedWithoutEffect() {
        SessionProbe session = open();
        byte[] large = new byte[1_000_000];
        large[999_999] = 7;
        session.ask(Create.of(path("large")).withData(large));
        assertArrayEquals(large, session.ask(GetData.of(path("large"))).data());

        byte[] tooLarge = new byte[1024 * 1024 + 1];
        RefusedException refusal = session.refusal(Create.of(path("too-large")).withData(tooLarge));
        assertEquals(BAD_ARGUMENTS, refusal.reason());
        assertTrue(refusal.toString().contains("too-large"), refusal.toString());
        assertEquals(BAD_ARGUMENTS, session.refused(SetData.of(path("large"), tooLarge)));
        assertTrue(session.ask(Exists.of(path("too-large"))).isEmpty());
        assertEquals(1, session.states.size(), "the connection lives on");
    }

    @Test
    void aTransactionTakesEffectTogetherAndEachOperationSeesThoseBefore() {
        SessionProbe session = open();
        List<Multi.Result> results = session.ask(Multi.of(
                Create.of(path("a")).withData(bytes("1")),
                Create.of(path("a").child("s-")).withMode(CreateMode.PERSISTENT_SEQUENTIAL),
                SetData.of(path("a"), bytes("2")).withVersion(0),
                new Check(path("a"), 1),
                Create.of(path("b")),
                Delete.of(path("b"))));

        assertEquals(path("a"), results.get(0).path().orElseThrow());
        assertEquals(path("a").child("s-0000000000"), results.get(1).path().orElseThrow());
        assertEquals(1, results.get(2).stat().orElseThrow().version());
        assertEquals(Multi.Result.NONE, results.get(3));
        assertEquals(Multi.Result.NONE, results.get(5));
        NodeStat stat = session.ask(GetData.of(path("a"))).stat();
        assertEquals(stat.czxid(), stat.mzxid(), "one transaction is one change");
        assertTrue(session.ask(Exists.of(path("b"))).isEmpty());
    }

    @Test
    void aRefusedTransactionHasNoEffectAndNamesTheOperation() {
        SessionProbe session = open();
        session.ask(Create.of(path("a")).withData(bytes("1")));
        session.ask(Create.of(path("d")));
        RefusedException refusal = session.refusal(Multi.of(
                Create.of(path("b")),
                SetData.of(path("a"), bytes("2")),
                Delete.of(path("d")),
                new Check(path("a"), 7),
                Create.of(path("c"))));

        assertEquals(BAD_VERSION, refusal.reason());
        assertEquals(OptionalInt.of(3), refusal.operationIndex());
        assertArrayEquals(bytes("1"), session.ask(GetData.of(path("a"))).data());
        assertEquals(0, session.ask(GetData.of(path("a"))).stat().version());
        assertEquals(
                Set.of("a", "d"), Set.copyOf(session.ask(GetChildren.of(base())).names()));
    }

    @Test
    void aTransactionIsRefusedByItsFirstOperationToo() {
        SessionProbe session = open();
        RefusedException refusal = session.refusal(Multi.of(Check.exists(path("missing")), Create.of(path("a"))));
        assertEquals(NO_NODE, refusal.reason());
        assertEquals(OptionalInt.of(0), refusal.operationIndex());
        assertEquals(OptionalInt.empty(), session.refusal(Delete.of(path("a"))).operationIndex());
    }

    @Test
    void laterChangesOfAnySessionHaveLargerNumbers() {
        SessionProbe one = open();
        SessionProbe two = open();
        long last = 0;
        for (int i = 0; i < 10; i++) {
            SessionProbe session = i % 2 == 0 ? one : two;
            long zxid = session.ask(Create.of(path("n" + i))).stat().czxid();
            assertTrue(zxid > last, zxid + " after " + last);
            last = zxid;
        }
    }
}
