package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Lists of children that are made part by part: clients see no difference. */
class LongListTest {
    private static final int CHILDREN = 40_000;

    private static void createChildren(RawClient client) throws IOException {
        assertEquals(0, client.call(Requests.create("/top")).header().err());
        for (int first = 0; first < CHILDREN; first += 5_000) {
            List<RequestBody> creates = new ArrayList<>();
            for (int i = first; i < first + 5_000; i++) {
                creates.add(Requests.create("/top/" + i));
            }
            assertEquals(
                    0,
                    client.call(new RequestBody.Multi(OpCode.MULTI, creates))
                            .header()
                            .err());
        }
    }

    @Test
    void allChildrenAreInTheListOnce() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            createChildren(client);
            List<String> names = client.call(new RequestBody.GetChildren("/top", false), ReplyBody.GetChildren.class)
                    .children();
            assertEquals(CHILDREN, names.size());
            assertEquals(CHILDREN, new HashSet<>(names).size());
            ReplyBody.GetChildren2 second = client.call(
                    new RequestBody.GetChildren(OpCode.GET_CHILDREN2, "/top", false), ReplyBody.GetChildren2.class);
            assertEquals(names, second.children());
            assertEquals(CHILDREN, second.stat().numChildren());
        }
    }

    @Test
    void whatIsRefusedInTheMiddleOfRequestsIsAnsweredInOrder() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            createChildren(client);
            client.send(
                    Requests.set("/top", "x"),
                    new RequestBody.GetChildren("/top", false),
                    Requests.create("/top/later"),
                    new RequestBody.GetChildren(OpCode.GET_CHILDREN2, "/top", false),
                    new RequestBody.SetAcl("/top", List.of(), -1),
                    Requests.get("/none"));
            assertEquals(0, client.read().header().err());
            assertEquals(
                    CHILDREN,
                    ((ReplyBody.GetChildren) client.read().body().orElseThrow())
                            .children()
                            .size());
            assertEquals(0, client.read().header().err());
            assertEquals(
                    CHILDREN + 1,
                    ((ReplyBody.GetChildren2) client.read().body().orElseThrow())
                            .children()
                            .size());
            assertEquals(ErrorCode.INVALID_ACL.code(), client.read().header().err());
            assertEquals(ErrorCode.NO_NODE.code(), client.read().header().err());
        }
    }

    /** The event that a watch gets is that of the first child that is not in the list, and comes behind the list. */
    @Test
    void aWatchMissesNothingWhileTheListIsMade() throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        List<Long> zxids = Collections.synchronizedList(new ArrayList<>());
        try (ConclaveServer server =
                        TestServer.start(TestServer.config().eventLoops(1).build());
                RawClient lister = RawClient.attached(TestServer.port(server), 60_000);
                RawClient writer = RawClient.attached(TestServer.port(server), 60_000)) {
            createChildren(writer);
            CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
                while (!enough.get()) {
                    zxids.add(created(writer, "/top/new-" + zxids.size()));
                }
            });
            for (int round = 0; round < 10; round++) {
                RawClient.Message reply = lister.call(Requests.childrenAndWatch("/top"));
                assertFalse(reply.isEvent(), "an event of a watch that the client does not know of yet");
                int listed = (int) ((ReplyBody.GetChildren) reply.body().orElseThrow())
                        .children().stream()
                                .filter(name -> name.startsWith("new-"))
                                .count();
                RawClient.Message event = lister.read();
                assertTrue(event.isEvent());
                long next = zxid(zxids, listed);
                assertEquals(next, event.header().zxid());
                assertTrue(reply.header().zxid() < next, "the client is not to know of a change that it has not seen");
            }
            enough.set(true);
            writing.get(120, TimeUnit.SECONDS);
        }
    }

    /** The event may come before the writer's own answer does. */
    private static long zxid(List<Long> zxids, int index) {
        await().until(() -> zxids.size() > index);
        return zxids.get(index);
    }

    private static long created(RawClient client, String path) {
        try {
            RawClient.Message reply = client.call(Requests.create(path));
            assertEquals(0, reply.header().err());
            return reply.header().zxid();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
