package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CommandAnswerTest {
    private final LoneLoop server = new LoneLoop();
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final CompletableFuture<String> text = new CompletableFuture<>();

    private final class Word implements CommandWords {
        @Override
        public boolean isWord(String letters) {
            return letters.equals("srvr");
        }

        @Override
        public CompletionStage<String> answer(String word, byte[] argument, String host) {
            return text;
        }
    }

    private static void ask(ConnectionReader reader) {
        reader.handlerAdded(null);
        reader.channelRead(null, Unpooled.copiedBuffer("srvr", StandardCharsets.US_ASCII));
    }

    /** It is then that operators ask: a leader has gone, or a snapshot has come. */
    @Test
    void aWordIsAnsweredAlsoIfWhatIsServedChangesMeanwhile() {
        ConnectionReader reader = server.reader(channel, 1, LoneLoop.unused(SessionLeases.class), new Word());
        ask(reader);
        server.loop.connections().serve(ServiceMode.FULL);
        text.complete("text");
        server.finishTask();
        ByteBuf answer = channel.readOutbound();
        assertEquals("text", answer.toString(StandardCharsets.UTF_8));
        answer.release();
    }

    @Test
    void whatAClientDoesNotReadOfALongAnswerIsCountedAndTakenInParts() {
        UnreadChannel unread = new UnreadChannel();
        LimitGuard guard = new LimitGuard(ClientLimits.defaults(), server.time);
        ConnectionReader reader = server.reader(
                unread, LoneLoop.unused(SessionLeases.class), new Word(), new UnreadBytes(guard, server.time));
        ask(reader);
        text.complete("t".repeat(300_000));
        server.finishTask();
        assertTrue(guard.unreadBytes() >= 300_000);
        onLoop(() -> unread.read(2));
        assertTrue(guard.unreadBytes() < 200_000, () -> guard.unreadBytes() + " unread");
        onLoop(unread::readAll);
        assertEquals(0, guard.unreadBytes());
        assertFalse(unread.isOpen());
    }

    /** What is done there is counted in the task behind it. */
    private void onLoop(Runnable action) {
        server.loop.post(action);
        server.finishTask();
        server.finishTask();
    }

    @Test
    void aClientThatDoesNotReadItsLongAnswerIsCut() {
        UnreadChannel unread = new UnreadChannel();
        ConnectionReader reader = server.reader(unread, 200_000, LoneLoop.unused(SessionLeases.class), new Word());
        ask(reader);
        text.complete("t".repeat(300_000));
        server.finishTask();
        server.finishTask();
        assertFalse(unread.isOpen());
    }

    @AfterEach
    void end() {
        server.close();
    }
}
