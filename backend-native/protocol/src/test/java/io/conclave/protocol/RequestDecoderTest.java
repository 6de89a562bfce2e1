package io.conclave.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests of many parts, decoded step by step. */
class RequestDecoderTest {
    static List<RequestBody> requests() {
        RequestBody read = new RequestBody.GetData("/a", true);
        return List.of(
                new RequestBody.Multi(OpCode.MULTI_READ, List.of()),
                new RequestBody.Multi(OpCode.MULTI_READ, Collections.nCopies(7, read)),
                new RequestBody.Multi(OpCode.MULTI, List.of(new RequestBody.Delete("/a", 1))),
                new WatchRequest.SetWatches(
                        OpCode.SET_WATCHES, 5, List.of("/a", "/b"), List.of(), List.of("/c"), List.of(), List.of()),
                new WatchRequest.SetWatches(
                        OpCode.SET_WATCHES2,
                        5,
                        List.of(),
                        List.of("/a"),
                        List.of(),
                        List.of("/b", "/c"),
                        List.of("/d")));
    }

    private static ByteBuf encoded(RequestBody request) {
        ByteBuf bytes = Unpooled.buffer();
        request.encode(new JuteWriter(bytes));
        return bytes;
    }

    @ParameterizedTest
    @MethodSource("requests")
    void oneStepAfterTheOtherGivesTheRequest(RequestBody request) {
        assertTrue(RequestDecoder.isFor(request.opCode()));
        for (int parts = 1; parts < 10; parts++) {
            JuteReader in = new JuteReader(encoded(request));
            RequestDecoder decoder = RequestDecoder.of(request.opCode(), in);
            int left = in.remaining();
            while (!decoder.advance(parts)) {
                assertTrue(in.remaining() < left, "each step reads something");
                left = in.remaining();
            }
            assertEquals(request, decoder.request());
            assertEquals(0, in.remaining());
        }
    }

    @ParameterizedTest
    @MethodSource("requests")
    void aRequestThatIsCutShortIsMalformed(RequestBody request) {
        ByteBuf bytes = encoded(request);
        bytes.writerIndex(bytes.writerIndex() - 1);
        assertThrows(MalformedFrameException.class, () -> RequestDecoder.of(request.opCode(), new JuteReader(bytes))
                .all());
    }

    @ParameterizedTest
    @MethodSource("requests")
    void aStepDecodesNoMoreThanItsParts(RequestBody request) {
        JuteReader in = new JuteReader(encoded(request));
        RequestDecoder decoder = RequestDecoder.of(request.opCode(), in);
        int before = in.remaining();
        boolean done = decoder.advance(1);
        assertTrue(before - in.remaining() <= 24, "the header of a part, and the part");
        assertEquals(before == 9, done, "only the end of an empty multi is all of it");
        assertFalse(done && in.remaining() > 0);
    }
}
