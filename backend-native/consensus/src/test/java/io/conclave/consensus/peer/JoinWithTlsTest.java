package io.conclave.consensus.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The same over TLS. */
@Timeout(300)
@Tag("proof")
class JoinWithTlsTest extends JoinTest {
    @Override
    LinkForm form() {
        return LinkForm.WITH_TLS;
    }

    /** As by a member for which the handshake of TLS took too long. */
    @Test
    void aHandshakeThatIsClosedInTheMiddleIsBegunAnew() throws Exception {
        TestPeer one = member(given);
        try (ServerSocket busy = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> relay = CompletableFuture.runAsync(() -> {
                closeInTheMiddle(busy, 4);
                relay(busy, one);
            });
            assertEquals(
                    2,
                    JoinClient.fetch(2, TestPeer.member(1, busy.getLocalPort()), tls(), token)
                            .size());
            relay.join();
        }
    }

    @Test
    void aMemberThatClosesEachHandshakeIsGivenUp() throws Exception {
        try (ServerSocket never = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> closes = CompletableFuture.runAsync(() -> closeInTheMiddle(never, 5));
            LogException refused = assertThrows(
                    LogException.class,
                    () -> JoinClient.fetch(2, TestPeer.member(1, never.getLocalPort()), tls(), token));
            assertTrue(String.valueOf(refused.getMessage()).contains("the other end has closed the connection"));
            closes.join();
        }
    }

    private static void closeInTheMiddle(ServerSocket server, int times) {
        for (int i = 0; i < times; i++) {
            try (Socket from = server.accept()) {
                from.getInputStream().read(new byte[1 << 14]);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static void relay(ServerSocket server, TestPeer one) {
        try (Socket from = server.accept();
                Socket to = new Socket(InetAddress.getLoopbackAddress(), one.network.port())) {
            CompletableFuture<Void> back = CompletableFuture.runAsync(() -> copy(to, from));
            copy(from, to);
            back.join();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void copy(Socket from, Socket to) {
        try {
            from.getInputStream().transferTo(to.getOutputStream());
            to.shutdownOutput();
        } catch (IOException e) {
            // an end has closed it
        }
    }
}
