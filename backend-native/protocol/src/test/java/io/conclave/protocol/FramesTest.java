package io.conclave.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

class FramesTest {
    private static final int MAX = Frames.DEFAULT_MAX_PAYLOAD_BYTES;

    @Test
    void aFrameIsTakenOnlyWhenItsLastByteIsThere() {
        ByteBuf whole = Unpooled.buffer();
        Frames.writeRequest(whole, 7, new RequestBody.Sync("/a"));
        ByteBuf received = Unpooled.buffer();
        while (whole.readableBytes() > 1) {
            received.writeByte(whole.readByte());
            assertTrue(Frames.next(received, MAX).isEmpty());
            assertEquals(0, received.readerIndex());
        }
        received.writeByte(whole.readByte());

        JuteReader in = new JuteReader(Frames.next(received, MAX).orElseThrow());
        assertEquals(new RequestHeader(7, 9), RequestHeader.decode(in));
        assertEquals(new RequestBody.Sync("/a"), RequestBody.decode(OpCode.SYNC, in));
        assertEquals(0, received.readableBytes());
    }

    @Test
    void framesThatArriveTogetherAreTakenOneByOne() {
        ByteBuf received = Unpooled.buffer();
        received.writeInt(0);
        Frames.writeRequest(received, Xid.PING, ConnectionRequest.Empty.PING);
        Frames.write(
                received,
                new ReplyHeader(Xid.WATCH_EVENT, 9, 0),
                new WatcherEvent(EventType.NODE_DELETED.code(), WatcherEvent.STATE_CONNECTED, "/a"));

        assertEquals(0, Frames.next(received, MAX).orElseThrow().readableBytes());
        assertEquals(8, Frames.next(received, MAX).orElseThrow().readableBytes());
        JuteReader event = new JuteReader(Frames.next(received, MAX).orElseThrow());
        assertEquals(new ReplyHeader(-1, 9, 0), ReplyHeader.decode(event));
        assertEquals(
                EventType.NODE_DELETED, WatcherEvent.decode(event).eventType().orElseThrow());
        assertTrue(Frames.next(received, MAX).isEmpty());
    }

    @Test
    void aBadLengthIsRefusedBeforeThePayloadArrives() {
        for (int length : new int[] {-1, Integer.MIN_VALUE, MAX + 1, Integer.MAX_VALUE}) {
            ByteBuf received = Unpooled.buffer().writeInt(length);
            MalformedFrameException e = assertThrows(MalformedFrameException.class, () -> Frames.next(received, MAX));
            assertTrue(e.getMessage().startsWith("frame length: " + length), e.getMessage());
        }
        assertTrue(Frames.next(Unpooled.buffer().writeInt(MAX), MAX).isEmpty());
    }

    @Test
    void frameSharesTheMemoryOfTheReceivedBytes() {
        ByteBuf received = Unpooled.buffer().writeInt(1).writeByte(5);
        ByteBuf frame = Frames.next(received, MAX).orElseThrow();
        received.setByte(4, 6);
        assertEquals(6, frame.readByte());
    }

    @Test
    void recordThatCannotBeEncodedLeavesTheDestinationUnchanged() {
        ByteBuf out = Unpooled.buffer();
        Frames.writeRequest(out, 1, ConnectionRequest.Empty.WHO_AM_I);
        int end = out.writerIndex();
        assertThrows(
                IllegalStateException.class,
                () -> Frames.write(out, new RequestHeader(2, 1), writer -> {
                    writer.writeString("half");
                    throw new IllegalStateException("the other half");
                }));
        assertEquals(end, out.writerIndex());
    }
}
