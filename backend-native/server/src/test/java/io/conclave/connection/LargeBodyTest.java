package io.conclave.connection;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.Frames;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Large reads are decoded and answered part by part. The server has no state here, so there is no znode. */
class LargeBodyTest {
    private static final int PARTS = 10_000;

    private final LoneLoop server = new LoneLoop();
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final ConnectionReader reader = server.reader(channel, 1 << 30, new TestLeases());
    private final ClientConnection connection = reader.connection();

    @BeforeEach
    void open() {
        LoneLoop.open(connection, 1);
    }

    @AfterEach
    void end() {
        connection.close("the test is over");
        channel.releaseOutbound();
        server.close();
    }

    private static RequestBody multiRead(int parts) {
        return new RequestBody.Multi(
                OpCode.MULTI_READ, Collections.nCopies(parts, new RequestBody.GetData("/missing", false)));
    }

    private static ByteBuf frame(RequestBody request) {
        ByteBuf frame = Unpooled.buffer();
        Frames.writeRequest(frame, 1, request);
        return frame;
    }

    /** Has the line of the loop taken by another one. */
    private void holdUp() {
        server.loop.longWork().add(() -> {
            server.time.advance(LongWork.SLICE);
            return false;
        });
    }

    /** The payload of the one frame that was written. */
    private JuteReader reply() {
        channel.flushOutbound();
        ByteBuf all = Unpooled.buffer();
        for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            all.writeBytes(part);
            part.release();
        }
        ByteBuf payload = Frames.next(all, Integer.MAX_VALUE).orElseThrow();
        assertFalse(all.isReadable(), "more than one frame");
        return new JuteReader(payload);
    }

    @Test
    void aLargeMultiReadHasAResultForEachPart() {
        reader.channelRead(null, frame(multiRead(PARTS)));
        reader.channelReadComplete(null);
        JuteReader reply = reply();
        assertEquals(new ReplyHeader(1, 0, 0), ReplyHeader.decode(reply));
        ReplyBody.Multi body = (ReplyBody.Multi) ReplyBody.decode(OpCode.MULTI_READ, reply);
        assertEquals(
                Collections.nCopies(PARTS, ReplyBody.MultiResult.failed(ErrorCode.NO_NODE.code())), body.results());
        assertEquals(0, reply.remaining());
    }

    @Test
    void whatIsMalformedAtItsEndIsRefusedAndTheConnectionGoesOn() {
        ByteBuf malformed = frame(multiRead(PARTS));
        malformed.setInt(malformed.writerIndex() - 9, 99);
        malformed.setBoolean(malformed.writerIndex() - 5, false);
        reader.channelRead(null, malformed);
        reader.channelReadComplete(null);
        assertEquals(
                ErrorCode.MARSHALLING_ERROR.code(), ReplyHeader.decode(reply()).err());
        reader.channelRead(null, frame(multiRead(1)));
        reader.channelReadComplete(null);
        assertEquals(0, ReplyHeader.decode(reply()).err());
    }

    @Test
    void aPathThatIsTooLongInAListOfWatchesEndsTheConnection() {
        ByteBuf frame = frame(new WatchRequest.SetWatches(
                OpCode.SET_WATCHES,
                0,
                List.of("/a", "/" + "x".repeat(20_000)),
                List.of(),
                List.of(),
                List.of(),
                List.of()));
        reader.channelRead(null, frame);
        assertTrue(connection.isGone());
        assertEquals(0, frame.refCnt());
        assertEquals(0, server.loop.watches().size());
    }

    @Test
    void aConnectionThatGoesWhileItsRequestWaitsKeepsNothing() {
        holdUp();
        ByteBuf frame = frame(multiRead(PARTS));
        reader.channelRead(null, frame);
        assertTrue(frame.refCnt() > 0);
        connection.close("the client has gone");
        assertEquals(0, frame.refCnt());
    }

    /** What it is decoded to is in memory until the last watch is set. */
    @Test
    void aLargeListOfWatchesKeepsItsRoomAmongTheLargeRequestsUntilItIsSet() {
        AtomicBoolean enough = new AtomicBoolean();
        server.loop.longWork().add(() -> {
            server.time.advance(LongWork.SLICE);
            return enough.get();
        });
        List<String> gone =
                IntStream.range(0, 30_000).mapToObj(i -> "/gone-" + i).toList();
        ByteBuf frame = frame(
                new WatchRequest.SetWatches(OpCode.SET_WATCHES, 0, gone, List.of(), List.of(), List.of(), List.of()));
        reader.channelRead(null, frame);
        assertTrue(server.largeRequests.inside() > frame.readableBytes());
        enough.set(true);
        server.time.advanceUntil(LongWork.SLICE, () -> server.largeRequests.inside() == 0);
    }

    /** They would wait for as long as it likes, and all that time it is not even there for itself. */
    @Test
    void aClientThatTakesNoAnswersLeavesItsRoomAmongTheLargeRequestsToOthers() {
        long most = server.guard.limits().most(ClientLimit.LARGE_REQUESTS_BYTES);
        server.largeRequests.enter(() -> {}, most);
        reader.channelRead(null, frame(multiRead(PARTS)));
        takesAnswers(false);
        server.largeRequests.leave(most);
        await().until(() -> server.largeRequests.inside() == 0);
        server.finishTask();
        takesAnswers(true);
        reader.channelWritabilityChanged(null);
        assertEquals(0, ReplyHeader.decode(reply()).err());
    }

    private void takesAnswers(boolean value) {
        channel.unsafe().outboundBuffer().setUserDefinedWritability(1, value);
    }

    @Test
    void aShortListOfWatchesDoesNotWaitForTheLongReadsOfOthers() {
        holdUp();
        reader.channelRead(
                null,
                frame(new WatchRequest.SetWatches(
                        OpCode.SET_WATCHES, 0, List.of(), List.of("/later"), List.of(), List.of(), List.of())));
        reader.channelReadComplete(null);
        assertEquals(0, ReplyHeader.decode(reply()).err());
        assertEquals(1, server.loop.watches().size());
    }
}
