package io.conclave.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Many sessions that watch one znode, each on a socket of its own; one thread reads them all. Not thread-safe.
 *
 * <p>The znode is to be changed only while all watch it, and is watched again when all have heard of a change.
 */
final class Watchers implements AutoCloseable {
    private static final int SESSION_TIMEOUT_MS = 120_000;
    private static final long PATIENCE_MS = 60_000;
    private static final int LONGEST_FRAME = 256;
    private static final int OPENED_AT_ONCE = 500;
    private static final long BETWEEN_OPENINGS_MS = 1_100; // at most one batch in a second

    private final List<SocketChannel> sessions = new ArrayList<>();
    private final Selector selector = Selector.open();
    private final byte[] exists;

    /** Opens the sessions. Blocks. */
    Watchers(int port, int count, String path) throws IOException {
        exists = RawSession.existsFrame(path);
        byte[] connect = RawSession.connectFrame(SESSION_TIMEOUT_MS);
        for (int i = 0; i < count; i++) {
            SocketChannel session = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            sessions.add(session);
            session.setOption(StandardSocketOptions.TCP_NODELAY, true);
            session.configureBlocking(false);
            session.register(selector, SelectionKey.OP_READ, ByteBuffer.allocate(LONGEST_FRAME));
            session.write(ByteBuffer.wrap(connect)); // an empty socket takes so few bytes at once
            if (sessions.size() % OPENED_AT_ONCE == 0 || sessions.size() == count) {
                awaitFrames((i % OPENED_AT_ONCE) + 1, () -> {});
                pause();
            }
        }
    }

    /** A server may limit how many sessions are opened in a second. */
    private static void pause() {
        try {
            Thread.sleep(BETWEEN_OPENINGS_MS);
        } catch (InterruptedException e) {
            throw new BenchmarkException("interrupted", e);
        }
    }

    /** All watch the znode. Blocks. */
    void watch() throws IOException {
        for (SocketChannel session : sessions) {
            session.write(ByteBuffer.wrap(exists));
        }
        awaitFrames(sessions.size(), () -> {});
    }

    /** Waits until all have been told of a change, and counts for each how long ago this moment is. Blocks. */
    void awaitChange(long sinceNanos, LatencyHistogram latencies) throws IOException {
        awaitFrames(sessions.size(), () -> latencies.record(System.nanoTime() - sinceNanos));
    }

    /** So many sessions have one frame each. */
    private void awaitFrames(int count, Runnable onFrame) throws IOException {
        long deadline = System.nanoTime() + PATIENCE_MS * 1_000_000;
        for (int missing = count; missing > 0; ) {
            selector.select(1000);
            if (System.nanoTime() > deadline) {
                throw new BenchmarkException(missing + " sessions have no answer within " + PATIENCE_MS + " ms");
            }
            for (Iterator<SelectionKey> ready = selector.selectedKeys().iterator(); ready.hasNext(); ) {
                SelectionKey key = ready.next();
                ready.remove();
                if (hasFrame((SocketChannel) key.channel(), (ByteBuffer) key.attachment())) {
                    missing--;
                    onFrame.run();
                }
            }
        }
    }

    /** Reads on; whether there is a whole frame now, which is taken. */
    private static boolean hasFrame(SocketChannel session, ByteBuffer received) throws IOException {
        if (session.read(received) < 0) {
            throw new BenchmarkException("the server has closed a connection");
        }
        if (received.position() < Integer.BYTES || received.position() < Integer.BYTES + received.getInt(0)) {
            return false;
        }
        received.flip();
        received.position(Integer.BYTES + received.getInt(0));
        received.compact();
        return true;
    }

    /** Ends the sessions. Blocks. */
    @Override
    public void close() throws IOException {
        byte[] end = RawSession.closeFrame();
        for (SocketChannel session : sessions) {
            session.write(ByteBuffer.wrap(end));
        }
        selector.close();
        ByteBuffer answer = ByteBuffer.allocate(LONGEST_FRAME);
        for (SocketChannel session : sessions) {
            session.configureBlocking(true);
            while (session.read(answer.clear()) >= 0) {
                // the server closes the connection behind its answer
            }
            session.close();
        }
    }
}
