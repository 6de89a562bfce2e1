package io.conclave.connection;

import io.conclave.protocol.ReceivedBytes;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The answer to a four-letter word. A client that begins with one of the words wants no session; as a frame's length,
 * each would be far above the limit. Belongs to the connection's loop.
 */
final class CommandAnswer {
    private static final Logger LOG = LoggerFactory.getLogger(CommandAnswer.class);

    private final ClientConnection connection;
    private final CommandWords words;
    private boolean begun;

    CommandAnswer(ClientConnection connection, CommandWords words) {
        this.connection = connection;
        this.words = words;
    }

    /** Whether the client has sent a word with all of its argument. */
    boolean isBegun() {
        return begun;
    }

    /** Answers and closes if the first bytes of the connection are a word with all of its argument. */
    void answerIfWord(ReceivedBytes received) {
        String letters = received.firstLetters();
        if (begun || !words.isWord(letters)) {
            return;
        }
        Optional<byte[]> argument = received.behindLetters(words.argumentBytes(letters));
        if (argument.isPresent()) {
            begun = true;
            connection.statistics().received();
            words.answer(letters, argument.get(), connection.network()).whenComplete((text, failure) -> {
                if (failure != null) {
                    LOG.error("Command {} failed", letters, failure);
                }
                byte[] answer = (text == null ? "" : text).getBytes(StandardCharsets.UTF_8); // may be megabytes
                connection.loop().post(() -> send(answer));
            });
        }
    }

    private void send(byte[] answer) {
        if (!connection.isGone()) {
            connection.writeText(answer);
            connection.closeAfterOutput();
        }
    }
}
