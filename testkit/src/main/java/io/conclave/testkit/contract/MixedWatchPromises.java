package io.conclave.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.node.NodePath;
import io.conclave.request.AddWatch;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.spi.Capability;
import io.conclave.testkit.contract.SessionProbe.Events;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Watches of different kinds on one path of one session: none takes anything away from another. */
abstract class MixedWatchPromises extends WatchPromises {
    private final Events recursive = new Events();
    private final Events plain = new Events();
    private final Events oneShot = new Events();

    @Test
    void recursiveWatchOutlivesOneShotWatchesOfItsPath() {
        SessionProbe session = openWithNode();
        NodePath a = path("a");
        session.ask(new AddWatch(a, true, recursive));
        for (Request<?> read : readsWithWatch(a)) {
            session.ask(read);
            session.ask(SetData.of(a, bytes("1")));
        }
        session.ask(Create.of(a.child("b")));
        session.ask(SetData.of(a.child("b"), bytes("1")));
        assertEquals(
                List.of("DATA_CHANGED a", "DATA_CHANGED a", "DATA_CHANGED a", "CREATED b", "DATA_CHANGED b"),
                recursive.texts());
        assertEquals(List.of("DATA_CHANGED a", "DATA_CHANGED a", "CHILDREN_CHANGED a"), oneShot.texts());
    }

    @Test
    void plainWatchOutlivesOneShotWatchesOfItsPath() {
        SessionProbe session = openWithNode();
        NodePath a = path("a");
        session.ask(new AddWatch(a, false, plain));
        for (Request<?> read : readsWithWatch(a)) {
            session.ask(read);
            session.ask(SetData.of(a, bytes("1")));
        }
        session.ask(Create.of(a.child("b")));
        session.ask(Delete.of(a.child("b")));
        session.ask(SetData.of(a, bytes("2")));
        assertEquals(
                List.of(
                        "DATA_CHANGED a",
                        "DATA_CHANGED a",
                        "DATA_CHANGED a",
                        "CHILDREN_CHANGED a",
                        "CHILDREN_CHANGED a",
                        "DATA_CHANGED a"),
                plain.texts());
        assertEquals(List.of("DATA_CHANGED a", "DATA_CHANGED a", "CHILDREN_CHANGED a"), oneShot.texts());
    }

    @Test
    void oneShotWatchThatCameFirstFiresOnceBesideARecursiveOne() {
        SessionProbe session = openWithNode();
        NodePath a = path("a");
        session.ask(GetData.of(a).withWatcher(oneShot));
        session.ask(new AddWatch(a, true, recursive));
        session.ask(SetData.of(a, bytes("1")));
        session.ask(SetData.of(a, bytes("2")));
        assertEquals(List.of("DATA_CHANGED a"), oneShot.texts());
        assertEquals(List.of("DATA_CHANGED a", "DATA_CHANGED a"), recursive.texts());
    }

    @Test
    void plainAndRecursiveWatchOfOnePathBothSeeWhatTheyAreFor() {
        SessionProbe session = openWithNode();
        NodePath a = path("a");
        session.ask(new AddWatch(a, true, recursive));
        session.ask(new AddWatch(a, false, plain));
        change(session, a);
        assertBothSawTheChanges();
    }

    @Test
    void recursiveWatchMayComeSecond() {
        SessionProbe session = openWithNode();
        NodePath a = path("a");
        session.ask(new AddWatch(a, false, plain));
        session.ask(new AddWatch(a, true, recursive));
        change(session, a);
        assertBothSawTheChanges();
    }

    @Test
    void watchesThatAreSentTogetherAreAllSet() {
        SessionProbe session = openWithNode();
        NodePath a = path("a");
        CompletableFuture<?> all = CompletableFuture.allOf(
                session.session.submit(new AddWatch(a, true, recursive)).toCompletableFuture(),
                session.session.submit(GetData.of(a).withWatcher(oneShot)).toCompletableFuture(),
                session.session.submit(new AddWatch(a, false, plain)).toCompletableFuture());
        SessionProbe.await("three watches", all);
        change(session, a);
        assertBothSawTheChanges();
        assertEquals(List.of("DATA_CHANGED a"), oneShot.texts());
    }

    @Test
    void removingOneKindLeavesTheOthers() {
        SessionProbe session = openWithNode();
        NodePath a = path("a");
        session.ask(new AddWatch(a, true, recursive));
        session.ask(new AddWatch(a, false, plain));
        session.ask(GetData.of(a).withWatcher(oneShot));
        session.ask(new RemoveWatch(a, oneShot));
        change(session, a);
        assertBothSawTheChanges();
        session.ask(new RemoveWatch(a, recursive));
        session.ask(SetData.of(a, bytes("2")));
        assertEquals("DATA_CHANGED a", plain.texts().get(plain.texts().size() - 1));
        assertEquals(List.of(), oneShot.texts());
    }

    @Test
    void removedWatchThatIsSetAgainFires() {
        SessionProbe session = openWithNode();
        NodePath a = path("a");
        session.ask(new AddWatch(a, true, recursive));
        session.ask(new RemoveWatch(a, recursive));
        session.ask(GetData.of(a).withWatcher(oneShot));
        session.ask(SetData.of(a, bytes("1")));
        assertEquals(List.of("DATA_CHANGED a"), oneShot.texts());
        session.ask(new AddWatch(a, false, plain));
        session.ask(Create.of(a.child("b")));
        assertEquals(List.of("CHILDREN_CHANGED a"), plain.texts());
        assertEquals(List.of(), recursive.texts());
    }

    private SessionProbe openWithNode() {
        needs(Capability.PERSISTENT_WATCHES);
        SessionProbe session = open();
        session.ask(Create.of(path("a")));
        return session;
    }

    private List<Request<?>> readsWithWatch(NodePath a) {
        return List.of(
                GetData.of(a).withWatcher(oneShot),
                Exists.of(a).withWatcher(oneShot),
                GetChildren.of(a).withWatcher(oneShot));
    }

    private static void change(SessionProbe session, NodePath a) {
        session.ask(SetData.of(a, bytes("1")));
        session.ask(Create.of(a.child("b")));
        session.ask(Create.of(a.child("b").child("c")));
        session.ask(Delete.of(a.child("b").child("c")));
        session.ask(Delete.of(a.child("b")));
    }

    private void assertBothSawTheChanges() {
        assertEquals(List.of("DATA_CHANGED a", "CREATED b", "CREATED c", "DELETED c", "DELETED b"), recursive.texts());
        assertEquals(List.of("DATA_CHANGED a", "CHILDREN_CHANGED a", "CHILDREN_CHANGED a"), plain.texts());
    }
}
