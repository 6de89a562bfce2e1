package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.Frames;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.tls.ClientAuthentication;
import io.conclave.tls.StoreFile;
import io.conclave.tls.StorePassword;
import io.conclave.tls.TlsContext;
import io.conclave.tls.TlsSettings;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslHandler;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a connection that is refused or has ended leaves behind. */
@Timeout(300)
class ClientEndTest {
    private static final CertificateAuthority AUTHORITY = new CertificateAuthority("CN=an authority");

    @TempDir
    private Path directory;

    private final LoneLoop server = new LoneLoop();
    private final TestLeases leases = new TestLeases();
    private final UnreadChannel channel = new UnreadChannel();

    @Test
    void theTimerForALastAnswerEndsWithItsConnection() {
        ClientConnection connection = server.reader(channel, 1 << 20, leases).connection();
        connection.writeText(new byte[10]);
        connection.closeAfterOutput();
        int timers = server.time.pendingTimers();
        channel.readAll();
        assertFalse(channel.isOpen());
        assertEquals(timers - 1, server.time.pendingTimers());
    }

    /** TLS would send its end first, behind what the client does not read. */
    @Test
    void aClientOfTlsThatReadsNothingIsClosedAtOnce() {
        SslHandler tls = TlsContext.forServer(
                        TlsSettings.builder("ssl.")
                                .keyStore(store("keyStore", AUTHORITY.issue("CN=server")::writePem))
                                .clientAuthentication(ClientAuthentication.NONE)
                                .build(),
                        Runnable::run)
                .serverHandler("127.0.0.1", 1);
        channel.pipeline().addLast(tls);
        ClientConnection connection = server.reader(channel, 1 << 20, leases).connection();
        shakeHands();
        assertTrue(tls.handshakeFuture().isSuccess());
        connection.writeText(new byte[10]);
        connection.flushOutput();
        assertTrue(channel.isOpen());
        connection.close("a test");
        assertFalse(channel.isOpen());
    }

    private StoreFile store(String name, UnaryOperator<Path> writes) {
        return StoreFile.of(
                "ssl." + name + ".location", writes.apply(directory.resolve(name + ".pem")), StorePassword.none());
    }

    private void shakeHands() {
        EmbeddedChannel client = new EmbeddedChannel(TlsContext.forClient(
                        TlsSettings.builder("ssl.")
                                .trustStore(store("trustStore", AUTHORITY::writePem))
                                .verifiesServerNames(false)
                                .build(),
                        Runnable::run)
                .clientHandler("localhost", 1));
        channel.reads(true);
        for (int flights = 0; flights < 10; flights++) {
            move(client, channel);
            move(channel, client);
        }
        channel.reads(false);
    }

    private static void move(EmbeddedChannel from, EmbeddedChannel to) {
        for (ByteBuf bytes = from.readOutbound(); bytes != null; bytes = from.readOutbound()) {
            to.writeInbound(bytes);
        }
    }

    @Test
    void passwordsThatCannotBeAreBoundedLikeThoseThatAreWrong() {
        server.loop.connections().serve(ServiceMode.FULL);
        long most = server.guard.limits().most(ClientLimit.SESSIONS_PER_SECOND);
        for (int i = 0; i < most; i++) {
            assertTrue(isAnswered(), "the session is gone");
        }
        assertFalse(isAnswered());
        assertEquals(1, server.guard.count(ClientLimit.SESSIONS_PER_SECOND));
    }

    /** Whether a client with such a password is told that its session is gone. */
    private boolean isAnswered() {
        EmbeddedChannel stranger = new EmbeddedChannel();
        ByteBuf frame = Unpooled.buffer();
        Frames.write(frame, new ConnectRequest(0, 0, 60_000, 7, new byte[3], false, true));
        server.reader(stranger, 1 << 20, leases).channelRead(null, frame);
        assertFalse(stranger.isOpen());
        return stranger.releaseOutbound();
    }

    @AfterEach
    void end() {
        channel.close();
        server.close();
    }
}
