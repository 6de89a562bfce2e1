package io.conclave.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The main frames, byte for byte, written from the protocol's description. */
class GoldenBytesTest {
    private static final String STAT = "0000000000000001 0000000000000002 0000000000000003 0000000000000004"
            + "00000005 00000006 00000007 0000000000000008 00000009 0000000a 000000000000000b";
    private static final StatRecord STAT_RECORD = new StatRecord(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);

    @Test
    void handshake() {
        ConnectRequest request = new ConnectRequest(0, 0x102, 10_000, 0x55, new byte[] {1, 2}, true, true);
        frameIs(
                "0000001f 00000000 0000000000000102 00002710 0000000000000055 00000002 0102 01",
                out -> Frames.write(out, request));
        frameIs(
                "00000025 00000000 00000000 0000000000000000 00000010 00000000000000000000000000000000 00",
                out -> Frames.write(out, ConnectResponse.sessionGone(request)));
        frameIs(
                "0000001c 00000000 0000000000000000 00000001 0000000000000000 ffffffff",
                out -> Frames.write(out, new ConnectRequest(0, 0, 1, 0, null, false, false)));
    }

    @Test
    void pingAndItsAnswer() {
        frameIs("00000008 fffffffe 0000000b", out -> Frames.writeRequest(out, Xid.PING, ConnectionRequest.Empty.PING));
        frameIs(
                "00000010 fffffffe 0000000000000007 00000000",
                out -> Frames.write(out, new ReplyHeader(Xid.PING, 7, 0), ReplyBody.Empty.INSTANCE));
    }

    @Test
    void createAndItsAnswers() {
        frameIs(
                "00000032 00000001 00000001 00000002 2f61 00000001 78"
                        + "00000001 0000001f 00000005 776f726c64 00000006 616e796f6e65 00000003",
                out -> Frames.writeRequest(
                        out,
                        1,
                        new RequestBody.Create(
                                OpCode.CREATE,
                                "/a",
                                new byte[] {'x'},
                                AclRecord.OPEN,
                                CreateFlag.EPHEMERAL_SEQUENTIAL)));
        frameIs(
                "0000001f 00000001 0000000000000002 00000000 0000000b 2f61303030303030303031",
                out -> Frames.write(out, new ReplyHeader(1, 2, 0), new ReplyBody.Create("/a000000001")));
        frameIs(
                "0000005a 00000001 0000000000000002 00000000 00000002 2f61" + STAT,
                out -> Frames.write(out, new ReplyHeader(1, 2, 0), new ReplyBody.Create2("/a", STAT_RECORD)));
    }

    @Test
    void createWithATimeToLive() {
        frameIs(
                "00000022 00000001 00000015 00000002 2f61 ffffffff 00000000 00000005 00000000000003e8",
                out -> Frames.writeRequest(
                        out, 1, new RequestBody.Create(OpCode.CREATE_TTL, "/a", null, List.of(), 5, 1000)));
    }

    @Test
    void readsAndTheirAnswers() {
        frameIs(
                "0000000f 00000002 00000004 00000002 2f61 01",
                out -> Frames.writeRequest(out, 2, new RequestBody.GetData("/a", true)));
        frameIs(
                "00000059 00000002 0000000000000002 00000000 00000001 78" + STAT,
                out -> Frames.write(
                        out, new ReplyHeader(2, 2, 0), new ReplyBody.GetData(new byte[] {'x'}, STAT_RECORD)));
        frameIs(
                "0000001f 00000002 0000000000000002 00000000 00000002 00000001 61 00000002 c3a9",
                out -> Frames.write(out, new ReplyHeader(2, 2, 0), new ReplyBody.GetChildren(List.of("a", "é"))));
        frameIs(
                "00000010 00000002 0000000000000002 ffffff9b",
                out -> Frames.write(out, new ReplyHeader(2, 2, ErrorCode.NO_NODE.code()), ReplyBody.Empty.INSTANCE));
    }

    @Test
    void event() {
        frameIs(
                "0000001e ffffffff 0000000000000009 00000000 00000004 00000003 00000002 2f61",
                out -> Frames.write(
                        out,
                        new ReplyHeader(Xid.WATCH_EVENT, 9, 0),
                        new WatcherEvent(EventType.NODE_CHILDREN_CHANGED.code(), WatcherEvent.STATE_CONNECTED, "/a")));
    }

    @Test
    void multiAndItsResults() {
        frameIs(
                "00000037 00000003 0000000e"
                        + "00000002 00 ffffffff 00000002 2f61 ffffffff"
                        + "0000000d 00 ffffffff 00000002 2f62 00000007"
                        + "ffffffff 01 ffffffff",
                out -> Frames.writeRequest(
                        out,
                        3,
                        new RequestBody.Multi(
                                OpCode.MULTI,
                                List.of(new RequestBody.Delete("/a", -1), new RequestBody.CheckVersion("/b", 7)))));
        frameIs(
                "0000002b 00000003 0000000000000009 00000000"
                        + "00000002 00 00000000"
                        + "0000000d 00 00000000"
                        + "ffffffff 01 ffffffff",
                out -> Frames.write(
                        out,
                        new ReplyHeader(3, 9, 0),
                        new ReplyBody.Multi(List.of(
                                ReplyBody.MultiResult.succeeded(OpCode.DELETE, ReplyBody.Empty.INSTANCE),
                                ReplyBody.MultiResult.succeeded(OpCode.CHECK, ReplyBody.Empty.INSTANCE)))));
        frameIs(
                "00000033 00000003 0000000000000009 00000000"
                        + "ffffffff 00 00000000 00000000"
                        + "ffffffff 00 ffffff99 ffffff99"
                        + "ffffffff 01 ffffffff",
                out -> Frames.write(
                        out,
                        new ReplyHeader(3, 9, 0),
                        new ReplyBody.Multi(List.of(
                                ReplyBody.MultiResult.failed(0),
                                ReplyBody.MultiResult.failed(ErrorCode.BAD_VERSION.code())))));
    }

    private static void frameIs(String hex, Consumer<ByteBuf> write) {
        ByteBuf out = Unpooled.buffer();
        write.accept(out);
        assertEquals(hex.replace(" ", ""), ByteBufUtil.hexDump(out));
    }
}
