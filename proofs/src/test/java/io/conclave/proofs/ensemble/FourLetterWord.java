package io.conclave.proofs.ensemble;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Asks a server one of its four-letter words. */
final class FourLetterWord {
    private static final int TIMEOUT_MS = 1000;

    private FourLetterWord() {}

    /** The answer; empty if there is none within a second. Blocks. */
    static Optional<String> ask(InetSocketAddress server, String word) {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(TIMEOUT_MS);
            socket.connect(server, TIMEOUT_MS);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return answer.isEmpty() ? Optional.empty() : Optional.of(answer);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** The value of a line such as {@code Mode: leader} in the answer to {@code srvr}. */
    static Optional<String> field(String answer, String name) {
        return answer.lines()
                .filter(line -> line.startsWith(name + ": "))
                .map(line -> line.substring(name.length() + 2).trim())
                .findFirst();
    }
}
