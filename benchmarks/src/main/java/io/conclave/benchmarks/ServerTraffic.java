package io.conclave.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How many messages a server has received and sent so far, by its own count: requests, answers, events and heartbeats.
 */
final class ServerTraffic {
    private static final Pattern COUNT = Pattern.compile("^(Received|Sent): (\\d+)$", Pattern.MULTILINE);

    private ServerTraffic() {}

    static long messages(String hostAndPort) {
        int colon = hostAndPort.lastIndexOf(':');
        try (Socket socket =
                new Socket(hostAndPort.substring(0, colon), Integer.parseInt(hostAndPort.substring(colon + 1)))) {
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            Matcher count = COUNT.matcher(answer);
            long sum = 0;
            while (count.find()) {
                sum += Long.parseLong(count.group(2));
            }
            return sum;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot ask " + hostAndPort + " for its counts", e);
        }
    }
}
