package io.conclave.testkit.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against a server that sends every byte back. */
class FaultProxyTest {
    private final ServerSocket echo = newServer();
    private final FaultProxy proxy =
            FaultProxy.to(InetAddress.getLoopbackAddress().getHostAddress(), echo.getLocalPort());

    @BeforeEach
    void startEcho() {
        Thread acceptor = new Thread(() -> {
            try {
                while (true) {
                    Socket socket = echo.accept();
                    Thread worker = new Thread(() -> echoAll(socket));
                    worker.setDaemon(true);
                    worker.start();
                }
            } catch (IOException e) {
                // The test is over.
            }
        });
        acceptor.setDaemon(true);
        acceptor.start();
    }

    @AfterEach
    void stop() throws IOException {
        proxy.close();
        echo.close();
    }

    @Test
    void bytesGoThereAndBack() throws IOException {
        try (Socket socket = connect()) {
            assertEquals(7, ask(socket, 7));
            assertEquals(8, ask(socket, 8));
            assertEquals(1, proxy.acceptedConnections());
        }
    }

    @Test
    void aCutClosesConnectionsAndNewOnesWork() throws IOException {
        try (Socket socket = connect()) {
            assertEquals(7, ask(socket, 7));
            proxy.cut();
            assertEnds(socket);
        }
        try (Socket socket = connect()) {
            assertEquals(7, ask(socket, 7));
        }
    }

    @Test
    void nextBytesAreLostOnceAndTheConnectionWithThem() throws IOException {
        try (Socket socket = connect();
                Socket other = connect()) {
            assertEquals(7, ask(socket, 7));
            assertEquals(7, ask(other, 7));
            proxy.cutAtNext(FaultProxy.Direction.TO_CLIENT);
            socket.getOutputStream().write(8);
            assertEnds(socket);
            assertEquals(9, ask(other, 9));
            proxy.cutAtNext(FaultProxy.Direction.TO_CLIENT);
            proxy.restore();
            assertEquals(10, ask(other, 10));
        }
    }

    @Test
    void anIsolatedTargetComesBackAfterRestore() throws IOException {
        proxy.isolate();
        try (Socket socket = connect()) {
            assertEnds(socket);
        }
        proxy.restore();
        try (Socket socket = connect()) {
            assertEquals(7, ask(socket, 7));
        }
    }

    @Test
    void aStalledDirectionHoldsBytesUntilTheyFlow() throws IOException {
        for (FaultProxy.Direction direction : FaultProxy.Direction.values()) {
            try (Socket socket = connect()) {
                assertEquals(7, ask(socket, 7));
                proxy.stall(direction);
                socket.setSoTimeout(50);
                assertThrows(SocketTimeoutException.class, () -> ask(socket, 8), direction.toString());
                proxy.flow(direction);
                socket.setSoTimeout(10_000);
                assertEquals(8, socket.getInputStream().read(), direction.toString());
            }
        }
    }

    @Test
    void aStalledConnectionCanBeCut() throws IOException {
        try (Socket socket = connect()) {
            assertEquals(7, ask(socket, 7));
            proxy.stall(FaultProxy.Direction.TO_CLIENT);
            socket.getOutputStream().write(8);
            proxy.cut();
            assertEnds(socket);
            Awaitility.await().until(() -> proxy.openConnections() == 0);
        }
    }

    @Test
    void aDelayMakesBytesArriveLater() throws IOException {
        proxy.delay(FaultProxy.Direction.TO_TARGET, Duration.ofMillis(50));
        try (Socket socket = connect()) {
            long before = System.nanoTime();
            assertEquals(7, ask(socket, 7));
            assertTrue(System.nanoTime() - before >= 50_000_000L);
        }
    }

    @Test
    void anUnreachableTargetClosesTheConnection() throws IOException {
        // not a socket that was closed: a thread that was waiting there may still be given one more connection
        try (FaultProxy toNobody = FaultProxy.to("127.0.0.1", FreePort.find());
                Socket socket = connect(toNobody)) {
            assertEnds(socket);
        }
    }

    private Socket connect() throws IOException {
        return connect(proxy);
    }

    private static Socket connect(FaultProxy to) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), to.port());
        socket.setSoTimeout(10_000);
        return socket;
    }

    private static int ask(Socket socket, int value) throws IOException {
        socket.getOutputStream().write(value);
        return socket.getInputStream().read();
    }

    private static void assertEnds(Socket socket) {
        try {
            assertEquals(-1, socket.getInputStream().read());
        } catch (SocketTimeoutException e) {
            throw new AssertionError("still open", e);
        } catch (IOException reset) {
            // An end as good as the other.
        }
    }

    private static void echoAll(Socket socket) {
        try (socket) {
            socket.getInputStream().transferTo(socket.getOutputStream());
        } catch (IOException e) {
            // The test has cut it.
        }
    }

    private static ServerSocket newServer() {
        try {
            return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
