package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.Frames;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.tls.ClientAuthentication;
import io.conclave.tls.HandshakeBound;
import io.conclave.tls.StoreFile;
import io.conclave.tls.StorePassword;
import io.conclave.tls.TlsContext;
import io.conclave.tls.TlsSettings;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslHandler;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a connection that is refused or has ended leaves behind. */
@Timeout(300)
class ClientEndTest {
    /** A busy machine may take longer than the 10 s of a server. */
    private static final Duration PATIENCE = Duration.ofMinutes(5);

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
        SslHandler tls = tls(Runnable::run);
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

    private SslHandler tls(Executor handshakes) {
        return tlsContext(ClientAuthentication.NONE, handshakes).serverHandler("127.0.0.1", 1);
    }

    private TlsContext tlsContext(ClientAuthentication ofClients, Executor handshakes) {
        return TlsContext.forServer(
                TlsSettings.builder("ssl.")
                        .handshakeTimeout(PATIENCE)
                        .keyStore(store("keyStore", AUTHORITY.issue("CN=server")::writePem))
                        .trustStore(store("trustStore", AUTHORITY::writePem))
                        .clientAuthentication(ofClients)
                        .build(),
                handshakes);
    }

    /** TLS reads on by itself until it has something to pass on; its answers to that would grow. */
    @Test
    void tlsReadsNothingWhileItsClientTakesNothing() {
        AtomicInteger reads = new AtomicInteger();
        channel.pipeline().addLast(countingReads(reads));
        channel.pipeline().addLast(new ReadsWhileWritable(), tls(Runnable::run));
        shakeHands();
        channel.config().setAutoRead(false);
        channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
        int before = reads.get();
        channel.pipeline().fireChannelReadComplete();
        assertEquals(before, reads.get());
        channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
        channel.runPendingTasks();
        assertEquals(before + 1, reads.get());
    }

    /** As a client of ZooKeeper sends its watches again: right behind its end of the handshake. */
    @Test
    void whatIsSentBeforeAHandshakeIsDoneWaitsInTheSocket() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        SslHandler tls = tlsContext(ClientAuthentication.NEED, tasks::add).serverHandler("127.0.0.1", 1);
        AtomicInteger reads = new AtomicInteger();
        channel.pipeline().addLast(countingReads(reads), new HandshakeBound(tls), tls);
        EmbeddedChannel client = new EmbeddedChannel(TlsContext.forClient(
                        ofClient()
                                .keyStore(store("clientKeyStore", AUTHORITY.issue("CN=client")::writePem))
                                .build(),
                        Runnable::run)
                .clientHandler("localhost", 1));
        channel.reads(true);
        move(client, channel);
        runAll(tasks);
        move(channel, client);
        client.writeOutbound(Unpooled.buffer().writeZero(400_000));
        move(client, channel); // its certificate, and all else
        assertFalse(tls.handshakeFuture().isDone());
        assertFalse(channel.config().isAutoRead());
        channel.pipeline().fireChannelReadComplete();
        int before = reads.get();
        runAll(tasks);
        assertTrue(tls.handshakeFuture().isSuccess());
        assertTrue(channel.config().isAutoRead());
        assertTrue(reads.get() > before, "it is read on");
        int received = 0;
        for (ByteBuf part = channel.readInbound(); part != null; part = channel.readInbound()) {
            received += part.readableBytes();
            part.release();
        }
        assertEquals(400_000, received);
    }

    private void runAll(Queue<Runnable> tasks) {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
            channel.runPendingTasks();
        }
    }

    private static ChannelOutboundHandlerAdapter countingReads(AtomicInteger reads) {
        return new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext context) {
                reads.incrementAndGet();
                context.read();
            }
        };
    }

    @Test
    void aHandshakeThatFindsNoRoomIsRefusedWithAReason() {
        TlsContext context = tlsContext(ClientAuthentication.NONE, refused -> {
            throw new RejectedExecutionException("Task rejected from a pool");
        });
        SslHandler tls = context.serverHandler("127.0.0.1", 1);
        channel.pipeline().addLast(tls);
        List<Throwable> failures = new ArrayList<>();
        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext ignored, Throwable cause) {
                failures.add(cause);
            }
        });
        move(clientOfTls(), channel);
        failures.add(tls.handshakeFuture().cause());
        for (Throwable failure : failures) {
            assertTrue(TlsContext.isTlsFailure(failure), failure::toString);
            assertEquals(
                    "too many other handshakes of TLS wait for this one to be computed",
                    context.explainAsServer(failure));
        }
    }

    /** A stranger sends on; its handshake never ends. */
    @Test
    void nothingIsReadBeyondWhatAHandshakeHas() {
        SslHandler tls = tls(never -> {});
        AtomicInteger reads = new AtomicInteger();
        channel.pipeline().addLast(countingReads(reads), new HandshakeBound(tls), tls);
        move(clientOfTls(), channel);
        assertTrue(channel.config().isAutoRead());
        for (int i = 0; i < 5; i++) {
            channel.writeInbound(Unpooled.buffer().writeZero(60_000));
        }
        assertFalse(channel.config().isAutoRead());
        int before = reads.get();
        channel.pipeline().fireChannelReadComplete();
        assertEquals(before, reads.get(), "TLS asks for more");
    }

    private StoreFile store(String name, UnaryOperator<Path> writes) {
        return StoreFile.of(
                "ssl." + name + ".location", writes.apply(directory.resolve(name + ".pem")), StorePassword.none());
    }

    private void shakeHands() {
        EmbeddedChannel client = clientOfTls();
        channel.reads(true);
        for (int flights = 0; flights < 10; flights++) {
            move(client, channel);
            move(channel, client);
        }
        channel.reads(false);
    }

    private EmbeddedChannel clientOfTls() {
        return new EmbeddedChannel(
                TlsContext.forClient(ofClient().build(), Runnable::run).clientHandler("localhost", 1));
    }

    private TlsSettings.Builder ofClient() {
        return TlsSettings.builder("ssl.")
                .handshakeTimeout(PATIENCE)
                .trustStore(store("trustStore", AUTHORITY::writePem))
                .verifiesServerNames(false);
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
