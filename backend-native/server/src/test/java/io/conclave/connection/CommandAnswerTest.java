package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
        public CompletionStage<String> answer(String word, byte[] argument) {
            return text;
        }
    }

    /** It is then that operators ask: a leader has gone, or a snapshot has come. */
    @Test
    void aWordIsAnsweredAlsoIfWhatIsServedChangesMeanwhile() {
        ConnectionReader reader = server.reader(channel, 1, LoneLoop.unused(SessionLeases.class), new Word());
        reader.handlerAdded(null);
        reader.channelRead(null, Unpooled.copiedBuffer("srvr", StandardCharsets.US_ASCII));
        server.loop.connections().serve(ServiceMode.FULL);
        text.complete("text");
        server.finishTask();
        ByteBuf answer = channel.readOutbound();
        assertEquals("text", answer.toString(StandardCharsets.UTF_8));
        answer.release();
    }

    @AfterEach
    void end() {
        server.close();
    }
}
