package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.protocol.EventType;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyBody.MultiResult;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetAcl;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.time.TimeSource;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

/** What a server can say that no server of ours and no ZooKeeper says: it costs its own connection at most. */
final class HostileServerTest extends WireSessionFixture {
    private static final byte[] NOTHING = {};

    /** A server that answers the first request after the handshake so, and then behaves. */
    private TestSession answered(ReplyBody first) {
        FakeServer server = server(
                peer -> {
                    peer.open(TIMEOUT_MS);
                    peer.reply(peer.next(), first);
                    serve(peer);
                },
                WireSessionFixture::openAndServe);
        return connected(server, TimeSource.system());
    }

    private static void assertUnknown(String reason, Runnable write) {
        String message = assertThrows(OutcomeUnknownException.class, write::run).getMessage();
        assertTrue(message.contains(reason), message);
    }

    @Test
    void aGreetingOfMegabytesIsRefusedByItsLength() {
        FakeServer server = server(
                peer -> {
                    peer.readGreeting();
                    ByteBuf length = Unpooled.buffer();
                    length.writeInt(4097);
                    peer.send(length);
                    peer.ignore();
                },
                WireSessionFixture::openAndServe);
        TestSession session = session(server.url(), TimeSource.system());
        session.awaitState(SessionState.CONNECTED);
        assertEquals(2, server.accepted());
    }

    @Test
    void aMultiWithMoreOrFewerResultsThanOperationsMayHaveBeenDone() {
        Multi multi = new Multi(List.of(Delete.of(A), SetData.of(A, NOTHING)));
        MultiResult deleted = MultiResult.succeeded(OpCode.DELETE, ReplyBody.Empty.INSTANCE);
        MultiResult set = MultiResult.succeeded(OpCode.SET_DATA, STAT);
        for (List<MultiResult> results :
                List.of(List.of(deleted), List.of(deleted, set, set), List.<MultiResult>of())) {
            TestSession session = answered(new ReplyBody.Multi(results));
            assertUnknown(results.size() + " results for 2 operations", () -> session.call(multi));
            assertEquals(1, session.call(GetData.of(A)).data().length);
        }
        TestSession swapped = answered(new ReplyBody.Multi(List.of(set, deleted)));
        assertUnknown("operation 0 is answered by a Stat", () -> swapped.call(multi));
    }

    /** To say "refused" would say that nothing was created. */
    @Test
    void aCreatedPathThatIsNoneLeavesTheOutcomeUnknown() {
        Create create = Create.of(A).withMode(CreateMode.PERSISTENT_SEQUENTIAL);
        TestSession session = answered(new ReplyBody.Create2("no path", FakeServer.STAT));
        assertUnknown("Invalid path", () -> session.call(create));
        assertEquals(1, session.call(GetData.of(A)).data().length);
    }

    @Test
    void aReadWhoseAnswerBreaksARuleIsRefused() {
        TestSession session = answered(new ReplyBody.GetAcl(List.of(), FakeServer.STAT));
        assertThrows(RefusedException.class, () -> session.call(new GetAcl(A)));
        assertEquals(1, session.call(GetData.of(A)).data().length);
    }

    @Test
    void eventsOfPathsThatCannotBeAreIgnored() throws Exception {
        BlockingQueue<NodeEvent> events = new LinkedBlockingQueue<>();
        FakeServer server = server(peer -> {
            peer.open(TIMEOUT_MS);
            FakeServer.Received read = peer.next();
            peer.reply(read, new ReplyBody.GetData(new byte[] {1}, FakeServer.STAT));
            for (String path : List.of("", "a", "//", "/a/", "/a/../b", "/\0", "x".repeat(1 << 20))) {
                peer.event(EventType.NODE_DATA_CHANGED, path, 5);
            }
            peer.event(EventType.NODE_DATA_CHANGED, "/a", 6);
            serve(peer);
        });
        TestSession session = connected(server, TimeSource.system());
        session.call(GetData.of(A).withWatcher(events::add));
        assertEquals(NodePath.of("/a"), events.take().path());
        assertEquals(1, session.session.connectionNumber());
    }
}
