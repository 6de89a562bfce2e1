package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.Frames;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchRequest;
import io.conclave.tree.AuthId;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * While a server reads nothing from a connection for a reason of its own, the session of its client does not expire.
 */
@Timeout(300)
class HeldConnectionTest {
    private static final int TIMEOUT_MS = LoneLoop.SESSION_TIMEOUT_MS;
    private static final RequestBody PING = new ConnectionRequest.Empty(OpCode.PING);

    private final LoneLoop server = new LoneLoop();
    private final TestLeases leases = new TestLeases();
    private final AtomicInteger touches = leases.touches;
    private final ConnectionReader reader = server.reader(1 << 20, leases);
    private final ClientConnection connection = reader.connection();

    private void open() {
        LoneLoop.open(connection, 1);
    }

    private void receive(RequestBody request) {
        ByteBuf frame = Unpooled.buffer();
        Frames.writeRequest(frame, 1, request);
        reader.channelRead(null, frame);
    }

    @Test
    void theSessionIsKeptWhileALargeRequestWaitsForThoseOfOthers() {
        open();
        server.largeRequests.enter(() -> {}, server.guard.limits().most(ClientLimit.LARGE_REQUESTS_BYTES));
        receive(new RequestBody.SetData("/n", new byte[100_000], -1));
        assertEquals(1, touches.get());
        server.time.advanceUntil(Duration.ofMillis(TIMEOUT_MS / 3), () -> touches.get() >= 5);
    }

    @Test
    void theSessionIsKeptWhileALongRequestIsUnderWay() {
        open();
        server.loop.longWork().add(() -> {
            server.time.advance(LongWork.SLICE);
            return false;
        });
        List<String> gone = IntStream.range(0, 300).mapToObj(i -> "/gone-" + i).toList();
        receive(new WatchRequest.SetWatches(OpCode.SET_WATCHES, 0, gone, List.of(), List.of(), List.of(), List.of()));
        assertEquals(2, touches.get(), "by the request, and since it is not done");
    }

    /** A read behind the raise would show the write that comes behind the read. */
    @Test
    void behindARaiseOfTheLevelOnlyPingsAreHandledUntilItIsAnswered() {
        open();
        connection.authIds(List.of(AuthId.SUPER));
        receive(new RequestBody.GetData(RaiseLevelRequest.PATH, false));
        receive(PING);
        assertEquals(2, touches.get(), "both are handled");
        receive(new RequestBody.SetData("/n", new byte[0], -1));
        assertEquals(3, touches.get(), "the session is kept");
        receive(PING);
        assertEquals(3, touches.get(), "it comes behind the write");
        assertEquals(List.of(), server.proposed);
        server.raised.complete("raised");
        server.finishTask();
        assertEquals(1, server.proposed.size());
    }

    @Test
    void theSessionOfAClientThatTakesItsAnswersSlowlyIsKeptForAsLongAsItTakesAny() {
        SlowChannel slow = new SlowChannel();
        ConnectionReader slowReader = server.reader(slow, 1 << 30, leases);
        LoneLoop.open(slowReader.connection(), 1);
        slow.waiting = 10_000;
        ByteBuf ping = Unpooled.buffer();
        Frames.writeRequest(ping, 1, PING);
        slowReader.channelRead(null, ping);
        assertEquals(0, touches.get(), "it waits");
        for (int i = 1; i <= 5; i++) {
            slow.waiting -= 1_000;
            afterAThird();
            assertEquals(i, touches.get());
        }
        for (int i = 0; i < 5; i++) {
            afterAThird();
        }
        assertEquals(5, touches.get(), "it takes nothing");
        slow.waiting -= 1_000;
        afterAThird();
        assertEquals(6, touches.get());
        slowReader.connection().close("the test is over");
    }

    @Test
    void aConnectionThatIsHeldForItsPingsIsCounted() {
        open();
        leases.answersAtOnce = false;
        long most = server.guard.limits().most(ClientLimit.REQUESTS_IN_FLIGHT);
        for (int i = 0; i < most; i++) {
            assertEquals(0, server.guard.count(ClientLimit.REQUESTS_IN_FLIGHT));
            receive(PING);
        }
        assertEquals(1, server.guard.count(ClientLimit.REQUESTS_IN_FLIGHT));
    }

    /** TLS answers some messages of a client itself, and no request comes of them. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatDoesNotTakeItsAnswersIsNotReadAlsoIfItSendsNoRequest(boolean hasSession) {
        EmbeddedChannel channel = new EmbeddedChannel();
        ConnectionReader fullReader = server.reader(channel, 1 << 30, leases);
        if (hasSession) {
            LoneLoop.open(fullReader.connection(), 1);
        }
        channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
        fullReader.channelWritabilityChanged(null);
        assertFalse(channel.config().isAutoRead());
        channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
        fullReader.channelWritabilityChanged(null);
        assertTrue(channel.config().isAutoRead());
        fullReader.connection().close("the test is over");
    }

    private void afterAThird() {
        server.time.advance(Duration.ofMillis(TIMEOUT_MS / 3));
        server.finishTask();
    }

    @AfterEach
    void end() {
        connection.close("the test is over");
        server.close();
    }
}
