package io.conclave.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.RefusalReason;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.AddWatch;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import io.conclave.spi.Capability;
import io.conclave.testkit.contract.SessionProbe.Events;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** What fires a watch, how often, and when its event is seen. */
abstract class WatchPromises extends SessionPromises {
    @Test
    void anExistsWatchFiresOnTheCreation() {
        assertEquals(List.of("CREATED a"), afterExists(Create.of(path("a"))));
    }

    @Test
    void anExistsWatchFiresOnTheDeletion() {
        open().ask(Create.of(path("a")));
        assertEquals(List.of("DELETED a"), afterExists(Delete.of(path("a"))));
    }

    @Test
    void anExistsWatchFiresOnNewData() {
        open().ask(Create.of(path("a")));
        assertEquals(List.of("DATA_CHANGED a"), afterExists(SetData.of(path("a"), bytes("1"))));
    }

    private List<String> afterExists(Request<?> change) {
        SessionProbe watching = open();
        Events events = new Events();
        watching.ask(Exists.of(path("a")).withWatcher(events));
        open().ask(change);
        return events.await(1);
    }

    @Test
    void aDataWatchFiresOnNewDataAndDeletionButNotOnChildren() {
        SessionProbe session = open();
        NodePath a = path("a");
        session.ask(Create.of(a));
        Events set = new Events();
        session.ask(GetData.of(a).withWatcher(set));
        session.ask(Create.of(a.child("b")));
        session.ask(Delete.of(a.child("b")));
        assertEquals(List.of(), set.texts());
        session.ask(SetData.of(a, bytes("1")));
        assertEquals(List.of("DATA_CHANGED a"), set.texts());

        Events deleted = new Events();
        session.ask(GetData.of(a).withWatcher(deleted));
        session.ask(Delete.of(a));
        assertEquals(List.of("DELETED a"), deleted.texts());
    }

    @Test
    void aChildWatchFiresOnChildrenAndDeletionButNotOnData() {
        SessionProbe session = open();
        NodePath a = path("a");
        session.ask(Create.of(a));
        Events created = new Events();
        session.ask(GetChildren.of(a).withWatcher(created));
        session.ask(SetData.of(a, bytes("1")));
        assertEquals(List.of(), created.texts());
        session.ask(Create.of(a.child("b")));
        assertEquals(List.of("CHILDREN_CHANGED a"), created.texts());

        Events gone = new Events();
        session.ask(GetChildren.of(a).withWatcher(gone));
        session.ask(SetData.of(a.child("b"), bytes("1")));
        assertEquals(List.of(), gone.texts());
        session.ask(Delete.of(a.child("b")));
        assertEquals(List.of("CHILDREN_CHANGED a"), gone.texts());

        Events deleted = new Events();
        session.ask(GetChildren.of(a).withWatcher(deleted));
        session.ask(Delete.of(a));
        assertEquals(List.of("DELETED a"), deleted.texts());
    }

    @Test
    void aWatchFiresOnce() {
        SessionProbe session = open();
        session.ask(Create.of(path("a")));
        Events events = new Events();
        session.ask(GetData.of(path("a")).withWatcher(events));
        session.ask(SetData.of(path("a"), bytes("1")));
        session.ask(SetData.of(path("a"), bytes("2")));
        session.ask(Delete.of(path("a")));
        assertEquals(List.of("DATA_CHANGED a"), events.texts());
    }

    @Test
    void allWatchersOfANodeAreNotified() {
        SessionProbe one = open();
        SessionProbe two = open();
        one.ask(Create.of(path("a")));
        List<Events> all = List.of(new Events(), new Events(), new Events());
        one.ask(GetData.of(path("a")).withWatcher(all.get(0)));
        one.ask(Exists.of(path("a")).withWatcher(all.get(1)));
        two.session.submit(Sync.of(path("a")));
        two.ask(GetData.of(path("a")).withWatcher(all.get(2)));
        one.ask(Delete.of(path("a")));
        all.forEach(events -> assertEquals(List.of("DELETED a"), events.await(1)));
    }

    @Test
    void aReadThatIsRefusedLeavesNoWatch() {
        SessionProbe session = open();
        Events events = new Events();
        assertEquals(
                RefusalReason.NO_NODE, session.refused(GetData.of(path("a")).withWatcher(events)));
        assertEquals(
                RefusalReason.NO_NODE, session.refused(GetChildren.of(path("a")).withWatcher(events)));
        session.ask(Create.of(path("a")));
        session.ask(Delete.of(path("a")));
        assertEquals(List.of(), events.texts());
    }

    @Test
    void anEventIsSeenBeforeAnyStateThatCameAfterIt() {
        SessionProbe reader = open();
        SessionProbe writer = open();
        for (int round = 0; round < 20; round++) {
            NodePath path = path("n" + round);
            writer.ask(Create.of(path));
            reader.ask(Sync.of(path));
            List<String> order = new CopyOnWriteArrayList<>();
            CompletableFuture<Boolean> seen = new CompletableFuture<>();
            reader.ask(GetData.of(path).withWatcher(event -> order.add("event")));
            writer.session.submit(SetData.of(path, bytes("new")));
            readUntilChanged(reader, path, order, seen);
            SessionProbe.await("the new state", seen);
            assertEquals(List.of("event", "state"), order, "round " + round);
        }
    }

    private static void readUntilChanged(
            SessionProbe reader, NodePath path, List<String> order, CompletableFuture<Boolean> seen) {
        // From the dispatcher, so that the answer is looked at there as well.
        reader.session
                .dispatcher()
                .execute(() -> reader.session.submit(GetData.of(path)).whenComplete((data, failure) -> {
                    if (failure != null) {
                        seen.completeExceptionally(failure);
                    } else if (data.stat().version() == 0) {
                        readUntilChanged(reader, path, order, seen);
                    } else {
                        order.add("state");
                        seen.complete(true);
                    }
                }));
    }

    @Test
    void anEventOfASessionsOwnChangeComesBeforeTheReply() {
        SessionProbe session = open();
        session.ask(Create.of(path("a")));
        List<String> order = new CopyOnWriteArrayList<>();
        session.ask(GetData.of(path("a")).withWatcher(event -> order.add("event")));
        CompletableFuture<Boolean> replied = new CompletableFuture<>();
        session.session
                .dispatcher()
                .execute(() -> session.session.submit(Delete.of(path("a"))).whenComplete((done, failure) -> {
                    order.add("reply");
                    replied.complete(true);
                }));
        SessionProbe.await("delete", replied);
        assertEquals(List.of("event", "reply"), order);
    }

    @Test
    void aTransactionFiresTheWatchesOfAllItsOperationsAndARefusedOneNone() {
        SessionProbe session = open();
        session.ask(Create.of(path("a")));
        Events a = new Events();
        Events b = new Events();
        session.ask(GetData.of(path("a")).withWatcher(a));
        session.ask(Exists.of(path("b")).withWatcher(b));
        session.refused(Multi.of(SetData.of(path("a"), bytes("1")), Create.of(path("b")), Delete.of(path("missing"))));
        assertEquals(List.of(), a.texts());
        assertEquals(List.of(), b.texts());
        session.ask(Multi.of(SetData.of(path("a"), bytes("1")), Create.of(path("b"))));
        assertEquals(List.of("DATA_CHANGED a"), a.texts());
        assertEquals(List.of("CREATED b"), b.texts());
    }

    @Test
    void theEndOfASessionFiresTheWatchesOfItsNodes() {
        SessionProbe leaver = open();
        SessionProbe witness = open();
        leaver.ask(Create.of(path("e")).withMode(CreateMode.EPHEMERAL));
        witness.ask(Sync.of(base()));
        Events node = new Events();
        Events children = new Events();
        witness.ask(GetData.of(path("e")).withWatcher(node));
        witness.ask(GetChildren.of(base()).withWatcher(children));
        leaver.session.closeAsync();
        assertEquals(List.of("DELETED e"), node.await(1));
        assertEquals(List.of("CHILDREN_CHANGED " + base().name()), children.await(1));
    }

    @Test
    void anEventNamesThePathAndTheChangeIfItTells() {
        SessionProbe session = open();
        Events events = new Events();
        session.ask(Exists.of(path("a")).withWatcher(events));
        long zxid = session.ask(Create.of(path("a"))).stat().czxid();
        assertEquals(path("a"), events.seen().get(0).path());
        long told = events.seen().get(0).zxid();
        assertTrue(told == zxid || told == -1, "zxid of the event: " + told + ", of the change: " + zxid);
    }

    @Test
    void aPersistentWatchSeesEverythingOfItsNode() {
        needs(Capability.PERSISTENT_WATCHES);
        SessionProbe session = open();
        Events events = new Events();
        NodePath a = path("a");
        session.ask(new AddWatch(a, false, events));
        session.ask(Create.of(a));
        session.ask(SetData.of(a, bytes("1")));
        session.ask(SetData.of(a, bytes("2")));
        session.ask(Create.of(a.child("b")));
        session.ask(SetData.of(a.child("b"), bytes("1")));
        session.ask(Delete.of(a.child("b")));
        session.ask(Delete.of(a));
        session.ask(Create.of(a));
        assertEquals(
                List.of(
                        "CREATED a",
                        "DATA_CHANGED a",
                        "DATA_CHANGED a",
                        "CHILDREN_CHANGED a",
                        "CHILDREN_CHANGED a",
                        "DELETED a",
                        "CREATED a"),
                events.texts());
    }

    @Test
    void aRecursiveWatchSeesAllDescendantsButNoLists() {
        needs(Capability.PERSISTENT_WATCHES);
        SessionProbe session = open();
        Events events = new Events();
        NodePath a = path("a");
        session.ask(Create.of(a));
        session.ask(new AddWatch(a, true, events));
        session.ask(Create.of(a.child("b")));
        session.ask(Create.of(a.child("b").child("c")));
        session.ask(SetData.of(a.child("b").child("c"), bytes("1")));
        session.ask(Delete.of(a.child("b").child("c")));
        session.ask(SetData.of(a, bytes("1")));
        session.ask(Create.of(path("ab")));
        assertEquals(
                List.of("CREATED b", "CREATED c", "DATA_CHANGED c", "DELETED c", "DATA_CHANGED a"), events.texts());
    }

    @Test
    void aRemovedWatchIsSilentAndOthersStay() {
        SessionProbe session = open();
        session.ask(Create.of(path("a")));
        Events removed = new Events();
        Events kept = new Events();
        session.ask(GetData.of(path("a")).withWatcher(removed));
        session.ask(GetData.of(path("a")).withWatcher(kept));
        session.ask(new RemoveWatch(path("a"), removed));
        session.ask(SetData.of(path("a"), bytes("1")));
        assertEquals(List.of(), removed.texts());
        assertEquals(List.of("DATA_CHANGED a"), kept.texts());
    }

    @Test
    void aRemovedPersistentWatchIsSilent() {
        needs(Capability.PERSISTENT_WATCHES);
        SessionProbe session = open();
        Events events = new Events();
        session.ask(new AddWatch(path("a"), true, events));
        session.ask(Create.of(path("a")));
        session.ask(new RemoveWatch(path("a"), events));
        session.ask(Delete.of(path("a")));
        assertEquals(List.of("CREATED a"), events.texts());
    }

    @Test
    void removingAWatchThatIsNotThereIsRefused() {
        SessionProbe session = open();
        session.ask(Create.of(path("a")));
        Events events = new Events();
        assertEquals(RefusalReason.NO_WATCHER, session.refused(new RemoveWatch(path("a"), events)));
        session.ask(GetData.of(path("a")).withWatcher(events));
        session.ask(SetData.of(path("a"), bytes("1")));
        assertEquals(
                RefusalReason.NO_WATCHER,
                session.refused(new RemoveWatch(path("a"), events)),
                "it has fired and is gone");
    }
}
