package io.conclave.connection;

import java.util.concurrent.CompletionStage;

/**
 * ZooKeeper's four-letter words: what a connection may say instead of a handshake, to be answered with text and closed.
 * From any thread, without blocking.
 */
public interface CommandWords {

    /** Knows no word: any four letters are the length of a frame. */
    CommandWords NONE = new CommandWords() {
        @Override
        public boolean isWord(String letters) {
            return false;
        }

        @Override
        public CompletionStage<String> answer(String word, byte[] argument, String host) {
            throw new IllegalArgumentException("\"" + word + "\" is no command");
        }
    };

    /** Whether the first four bytes of a connection are a command. */
    boolean isWord(String letters);

    /** How many bytes must come behind a command before it can be answered. */
    default int argumentBytes(String word) {
        return 0;
    }

    /**
     * The answer to a command, or the reason why there is none.
     *
     * @param argument the bytes behind the word, as many as it {@linkplain #argumentBytes asks for}
     * @param host who asks, for the lines in which words wait: its address as a number; empty inside the JVM
     */
    CompletionStage<String> answer(String word, byte[] argument, String host);
}
