package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.Perms;
import io.conclave.protocol.WatchRequest;
import io.conclave.protocol.WatcherEvent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WatchTest {
    private static final int CREATED = 1;
    private static final int DELETED = 2;
    private static final int CHANGED = 3;
    private static final int CHILDREN = 4;
    private static final String RESERVED = "/zookeeper/conclave";

    private ConclaveServer server;
    private RawClient watcher;
    private RawClient actor;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.start();
        watcher = RawClient.attached(TestServer.port(server), 60_000);
        actor = RawClient.attached(TestServer.port(server), 60_000);
    }

    @AfterEach
    void stop() {
        watcher.close();
        actor.close();
        server.close();
    }

    /** The events of the watcher when it has caught up with all that was done before. */
    private List<String> events() throws IOException {
        watcher.send(new io.conclave.protocol.RequestBody.Sync("/"));
        List<String> events = new ArrayList<>();
        for (RawClient.Message message = watcher.read(); message.isEvent(); message = watcher.read()) {
            WatcherEvent event = message.event().orElseThrow();
            events.add(event.type() + " " + event.path());
        }
        return events;
    }

    @Test
    void oneShotWatchesFireOnceAndAreGone() throws IOException {
        actor.call(Requests.create("/a"));
        watcher.call(Requests.getAndWatch("/a"));
        watcher.call(Requests.childrenAndWatch("/a"));
        watcher.call(Requests.existsAndWatch("/a/b"));
        actor.call(Requests.create("/a/b"));
        assertEquals(List.of(CREATED + " /a/b", CHILDREN + " /a"), events());
        actor.call(Requests.create("/a/c"));
        actor.call(Requests.set("/a/b", "x"));
        assertEquals(List.of(), events());
        actor.call(Requests.set("/a", "x"));
        actor.call(Requests.set("/a", "y"));
        assertEquals(List.of(CHANGED + " /a"), events());
    }

    @Test
    void aDeletionIsReportedOnceHoweverManyWatchesThereAre() throws IOException {
        actor.call(Requests.create("/a"));
        watcher.call(Requests.getAndWatch("/a"));
        watcher.call(Requests.existsAndWatch("/a"));
        watcher.call(Requests.childrenAndWatch("/a"));
        watcher.call(Requests.childrenAndWatch("/"));
        watcher.call(new WatchRequest.AddWatch("/a", 0));
        watcher.call(new WatchRequest.AddWatch("/", 1));
        actor.call(Requests.delete("/a"));
        assertEquals(List.of(DELETED + " /a", CHILDREN + " /"), events());
    }

    @Test
    void persistentWatchesStayAndRecursiveOnesSeeDescendantsButNoListsOfChildren() throws IOException {
        actor.call(Requests.create("/p"));
        actor.call(Requests.create("/r"));
        watcher.call(new WatchRequest.AddWatch("/p", 0));
        watcher.call(new WatchRequest.AddWatch("/r", 1));
        for (String top : List.of("/p", "/r")) {
            actor.call(Requests.create(top + "/c"));
            actor.call(Requests.set(top + "/c", "x"));
            actor.call(Requests.set(top, "x"));
            actor.call(Requests.set(top, "y"));
            actor.call(Requests.create(top + "/c/d"));
        }
        assertEquals(
                List.of(
                        CHILDREN + " /p",
                        CHANGED + " /p",
                        CHANGED + " /p",
                        CREATED + " /r/c",
                        CHANGED + " /r/c",
                        CHANGED + " /r",
                        CHANGED + " /r",
                        CREATED + " /r/c/d"),
                events());
    }

    @Test
    void aWatchOnANodeThatMayNotBeReadIsSilent() throws IOException {
        actor.call(Requests.digest("me:secret"));
        watcher.call(Requests.existsAndWatch("/mine"));
        actor.call(Requests.create("/mine", List.of(new AclRecord(Perms.ALL, "auth", ""))));
        assertEquals(List.of(), events());
        assertEquals(-102, watcher.call(Requests.exists("/mine")).header().err());
    }

    @Test
    void watchesAreAskedForAndRemovedByKind() throws IOException {
        actor.call(Requests.create("/a"));
        watcher.call(Requests.getAndWatch("/a"));
        watcher.call(Requests.childrenAndWatch("/a"));
        assertEquals(
                0, watcher.call(new WatchRequest.CheckWatches("/a", 1)).header().err());
        assertEquals(
                0,
                watcher.call(new WatchRequest.RemoveWatches("/a", 1)).header().err());
        assertEquals(
                -121,
                watcher.call(new WatchRequest.CheckWatches("/a", 1)).header().err());
        assertEquals(
                -121,
                watcher.call(new WatchRequest.RemoveWatches("/a", 1)).header().err());
        assertEquals(
                -121,
                watcher.call(new WatchRequest.RemoveWatches("/a", 4)).header().err());
        assertEquals(
                0,
                watcher.call(new WatchRequest.RemoveWatches("/a", 3)).header().err());
        actor.call(Requests.delete("/a"));
        assertEquals(List.of(), events());
    }

    @Test
    void watchesSetAgainTellWhatWasMissed() throws IOException {
        for (String path : List.of("/same", "/changed", "/gone", "/grown")) {
            actor.call(Requests.create(path));
        }
        long seen = watcher.call(Requests.exists("/")).header().zxid();
        actor.call(Requests.set("/changed", "x"));
        actor.call(Requests.delete("/gone"));
        actor.call(Requests.create("/grown/child"));
        actor.call(Requests.create("/come"));
        watcher.send(new WatchRequest.SetWatches(
                OpCode.SET_WATCHES2,
                seen,
                List.of("/same", "/changed", "/gone"),
                List.of("/come", "/missing"),
                List.of("/grown", "/same", "/gone"),
                List.of(),
                List.of("/tree")));
        List<String> events = new ArrayList<>();
        RawClient.Message message = watcher.read();
        for (; message.isEvent(); message = watcher.read()) {
            events.add(message.event().orElseThrow().type() + " "
                    + message.event().orElseThrow().path());
        }
        assertEquals(-8, message.header().xid());
        assertEquals(
                List.of(
                        CHANGED + " /changed",
                        DELETED + " /gone",
                        CREATED + " /come",
                        CHILDREN + " /grown",
                        DELETED + " /gone"),
                events);
        actor.call(Requests.set("/same", "x"));
        actor.call(Requests.create("/missing"));
        actor.call(Requests.create("/tree"));
        actor.call(Requests.create("/tree/leaf"));
        assertEquals(
                List.of(CHANGED + " /same", CREATED + " /missing", CREATED + " /tree", CREATED + " /tree/leaf"),
                events());
    }

    @Test
    void watchesGoWithTheirConnection() throws IOException {
        for (int i = 0; i < 100; i++) {
            watcher.call(Requests.existsAndWatch("/n" + i));
        }
        watcher.close();
        for (int i = 0; i < 100; i++) {
            actor.call(Requests.create("/n" + i));
        }
        assertTrue(actor.call(Requests.exists("/n99")).header().err() == 0);
    }

    @Test
    void aPathThatIsRefusedIsNotWatched() throws IOException {
        assertEquals(-8, watcher.call(Requests.existsAndWatch("/a\0b")).header().err());
        assertEquals(
                -121,
                watcher.call(new WatchRequest.CheckWatches("/a\0b", 3)).header().err());
    }

    @Test
    void theReservedNodeIsWatchedByExists() throws IOException {
        watcher.call(Requests.existsAndWatch(RESERVED));
        assertEquals(
                0,
                watcher.call(new WatchRequest.CheckWatches(RESERVED, 2))
                        .header()
                        .err());
    }

    @Test
    void aWatchOfTheReservedNodeThatIsSetAgainDoesNotHearThatItIsGone() throws IOException {
        watcher.call(new WatchRequest.SetWatches(
                OpCode.SET_WATCHES, 0, List.of(RESERVED), List.of(), List.of(), List.of(), List.of()));
        assertEquals(List.of(), events());
        assertEquals(
                0,
                watcher.call(new WatchRequest.CheckWatches(RESERVED, 2))
                        .header()
                        .err());
    }

    @Test
    void aWatchForACreationThatIsSetAgainHearsThatTheReservedNodeIsThere() throws IOException {
        watcher.send(new WatchRequest.SetWatches(
                OpCode.SET_WATCHES, 0, List.of(), List.of(RESERVED), List.of(), List.of(), List.of()));
        assertEquals(CREATED, watcher.read().event().orElseThrow().type());
    }
}
