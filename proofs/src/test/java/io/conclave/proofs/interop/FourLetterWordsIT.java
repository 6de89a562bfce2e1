package io.conclave.proofs.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What operators' tools read has the same form on both servers. */
class FourLetterWordsIT {
    private static String ask(ServerUnderTest server, String word) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** The lines without what differs from server to server. */
    private static List<String> form(String answer) {
        return answer.lines()
                .map(line -> line.startsWith("Zookeeper version: 3.9.5-")
                        ? "version"
                        : line.replaceAll("0x[0-9a-f]+|\\d+(\\.\\d+)?", "N"))
                .toList();
    }

    @Test
    void wordsAreAnsweredAndRefusedAlikeByDefault() throws IOException {
        try (ServerUnderTest theirs = new ApacheZooKeeper();
                ServerUnderTest ours = new StandaloneConclave()) {
            assertEquals(form(ask(theirs, "srvr")), form(ask(ours, "srvr")));
            for (String word : List.of("ruok", "stat", "conf", "mntr", "isro", "cons", "envi", "dump")) {
                assertEquals(ask(theirs, word), ask(ours, word), word);
            }
        }
    }
}
