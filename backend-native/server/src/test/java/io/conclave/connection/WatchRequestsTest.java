package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.OpCode;
import io.conclave.protocol.WatchMode;
import io.conclave.protocol.WatchRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WatchRequestsTest {
    private final LoneLoop server = new LoneLoop();

    private ClientConnection connection(long maxOutputBytes) {
        ClientConnection connection = server.reader(maxOutputBytes, LoneLoop.unused(SessionLeases.class))
                .connection();
        connection.attaching();
        connection.attachedReadOnly(1);
        return connection;
    }

    private static WatchRequests.OldWatches old(int missed, int persistent) {
        List<String> gone =
                IntStream.range(0, missed).mapToObj(i -> "/gone-" + i).toList();
        List<String> kept =
                IntStream.range(0, persistent).mapToObj(i -> "/kept-" + i).toList();
        return new WatchRequests.OldWatches(
                new WatchRequest.SetWatches(OpCode.SET_WATCHES2, 0, gone, List.of(), List.of(), kept, List.of()));
    }

    /** The connection ends in the middle of the list, and with it all watches; nothing would take later ones away. */
    @Test
    void aClientThatDoesNotReadItsEventsLeavesNoWatches() {
        ClientConnection connection = connection(1);
        assertFalse(new WatchRequests(connection).setAgain(old(10_000, 100), 20_000));
        assertTrue(connection.isGone());
        assertEquals(0, server.loop.watches().size());
        assertEquals(0, server.guard.watchBytes());
    }

    @Test
    void aClientThatReadsItsEventsHasItsWatches() {
        ClientConnection connection = connection(1 << 20);
        assertTrue(new WatchRequests(connection).setAgain(old(10_000, 100), 20_000));
        assertFalse(connection.isGone());
        assertEquals(100, server.loop.watches().size());
        connection.close("the test is over");
        assertEquals(0, server.guard.watchBytes());
    }

    /** The server waits for those that it has told that it stops. */
    @ParameterizedTest
    @EnumSource(WatchMode.class)
    void aLastingWatchOfTheReservedNodeHearsThatTheServerStops(WatchMode mode) {
        ClientConnection connection = connection(1 << 20);
        new WatchRequests(connection).addPersistent(new WatchRequest.AddWatch(ClusterNode.PATH, mode.code()));
        CompletableFuture<Void> answered = new CompletableFuture<>();
        server.loop.goodbye().say(answered);
        assertFalse(answered.isDone(), "it was not told");
        connection.close("it goes to another server");
        assertTrue(answered.isDone());
    }

    @AfterEach
    void end() {
        server.close();
    }
}
