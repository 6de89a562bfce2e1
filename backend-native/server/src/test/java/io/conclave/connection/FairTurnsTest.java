package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.Frames;
import io.conclave.protocol.RequestBody;
import io.conclave.replica.ChangeProposal;
import io.conclave.tree.Change;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a client that asks for one thing at a time waits for, where others ask for as much as they can: so many of their
 * requests, counted, on a clock that moves only by what is handled. How long that takes on a machine, {@code
 * scripts/hostile-clients} measures.
 */
@Timeout(300)
class FairTurnsTest {
    private static final int STRANGERS = 3;
    /** What each request takes of the loop. */
    private static final Duration COST = Duration.ofNanos(100_000);

    /** Between two turns of a connection. */
    private static final Duration REST = Duration.ofMillis(1);

    private static final int REQUESTS_OF_A_TURN = (int) (Duration.ofMillis(2).dividedBy(COST)) + 1;

    private final LoneLoop server = new LoneLoop();
    private final List<ConnectionReader> strangers = new ArrayList<>();
    private final ConnectionReader client = reader(0);
    private final int mostInFlight = (int) server.guard.limits().most(ClientLimit.REQUESTS_IN_FLIGHT);

    FairTurnsTest() {
        server.takes = proposal -> {
            server.time.advance(COST);
            return true;
        };
        for (int i = 1; i <= STRANGERS; i++) {
            strangers.add(reader(i));
        }
    }

    private ConnectionReader reader(int number) {
        ConnectionReader reader = server.reader(1 << 20, new TestLeases());
        LoneLoop.open(reader.connection(), 1 + number);
        return reader;
    }

    private static ByteBuf writes(int count) {
        ByteBuf frames = Unpooled.buffer();
        for (int i = 0; i < count; i++) {
            Frames.writeRequest(frames, 1 + i, new RequestBody.SetData("/n", new byte[10], -1));
        }
        return frames;
    }

    private long proposedOf(long sessionId) {
        return server.proposed.stream()
                .filter(proposal -> ((ChangeProposal) proposal).change() instanceof Change.Request request
                        && request.sessionId() == sessionId)
                .count();
    }

    @AfterEach
    void end() {
        server.close();
    }

    @Test
    void aRequestWaitsForOneTurnOfEachOtherConnectionAtMost() {
        List<Integer> waitedFor = new ArrayList<>();
        server.loop.post(() -> {
            for (ConnectionReader stranger : strangers) {
                server.loop.post(() -> stranger.channelRead(null, writes(2 * mostInFlight)));
            }
            ask(waitedFor);
        });
        server.finishTask();
        server.finishTask(); // what the first task has posted
        for (int asked = 1; asked < 20; asked++) {
            server.time.advance(REST);
            server.loop.post(() -> ask(waitedFor));
            server.finishTask();
            server.finishTask();
        }
        assertEquals(20, waitedFor.size());
        assertEquals(STRANGERS * REQUESTS_OF_A_TURN, waitedFor.get(0));
        waitedFor.forEach(count -> assertTrue(count <= STRANGERS * REQUESTS_OF_A_TURN, waitedFor::toString));
    }

    /** On the loop. */
    private void ask(List<Integer> waitedFor) {
        int arrived = server.proposed.size();
        server.loop.post(() -> {
            waitedFor.add(server.proposed.size() - arrived);
            client.channelRead(null, writes(1));
        });
    }

    /** A write stands in the log behind those of others that are there when it comes. */
    @Test
    void eachConnectionHasFewWritesInTheLogAtATime() {
        for (ConnectionReader stranger : strangers) {
            server.loop.post(() -> stranger.channelRead(null, writes(2 * mostInFlight)));
        }
        for (int turn = 0; turn < 2 * mostInFlight / REQUESTS_OF_A_TURN + 1; turn++) {
            server.time.advance(REST);
            server.finishTask();
            server.finishTask();
        }
        for (int i = 1; i <= STRANGERS; i++) {
            assertEquals(mostInFlight, proposedOf(1 + i));
        }
    }
}
