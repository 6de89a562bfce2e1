package io.conclave.testcontainers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.rnorth.ducttape.TimeoutException;
import org.rnorth.ducttape.unreliables.Unreliables;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;
import org.testcontainers.containers.wait.strategy.WaitStrategyTarget;

/**
 * Waits until the server serves its clients: it tells its mode when it is asked {@code srvr}. Its port is open before
 * that, while it reads its log or looks for a leader.
 */
final class ServingWaitStrategy extends AbstractWaitStrategy {
    private static final int TIMEOUT_MS = 2000;

    @Override
    protected void waitUntilReady() {
        WaitStrategyTarget server = waitStrategyTarget;
        try {
            Unreliables.retryUntilTrue((int) startupTimeout.toSeconds(), TimeUnit.SECONDS, () -> getRateLimiter()
                    .getWhenReady(() -> !server.isRunning() || serves(server)));
        } catch (TimeoutException e) {
            throw new ContainerLaunchException(
                    "The server did not serve within " + startupTimeout.toSeconds() + " s; its log says why", e);
        }
        if (!server.isRunning()) {
            throw new ContainerLaunchException("The server has ended; its log says why");
        }
    }

    /** Whether it serves now; false if it cannot be reached. Blocks for some seconds at most. */
    static boolean serves(WaitStrategyTarget server) {
        try {
            return ask(server).contains("Mode:");
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    private static String ask(WaitStrategyTarget server) {
        InetSocketAddress address =
                new InetSocketAddress(server.getHost(), server.getMappedPort(ConclaveContainer.CLIENT_PORT));
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(TIMEOUT_MS);
            socket.connect(address, TIMEOUT_MS);
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException("no answer of " + address + ": " + e, e);
        }
    }
}
