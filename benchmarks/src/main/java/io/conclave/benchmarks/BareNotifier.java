package io.conclave.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * What notifications cost when nothing but sockets is there: one thread answers whatever comes with bytes as long as an
 * event, and writes them to every connection when told to. {@link #tellAll} may be called from any thread.
 */
final class BareNotifier implements AutoCloseable {
    private static final int EVENT_BYTES = 40; // a header, type and state, and a path of eight characters
    private static final int LONGEST_REQUEST = 256;
    private static final int CLOSE_BYTES = 12; // of the request to end a session: no other is as short

    private final Selector selector = Selector.open();
    private final ServerSocketChannel listening = ServerSocketChannel.open();
    private final List<SocketChannel> connections = new ArrayList<>(); // of the thread
    private final ByteBuffer request = ByteBuffer.allocateDirect(LONGEST_REQUEST); // of the thread
    private final ByteBuffer event = ByteBuffer.allocateDirect(Integer.BYTES + EVENT_BYTES); // of the thread
    private final Thread thread = new Thread(this::run, "bare-notifier");
    private volatile boolean isChanged;
    private volatile boolean isClosed;

    BareNotifier() throws IOException {
        event.putInt(0, EVENT_BYTES);
        listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
        listening.configureBlocking(false);
        listening.register(selector, SelectionKey.OP_ACCEPT);
        thread.start();
    }

    int port() {
        return listening.socket().getLocalPort();
    }

    /** Writes an event to every connection, soon. */
    void tellAll() {
        isChanged = true;
        selector.wakeup();
    }

    private void run() {
        try {
            while (!isClosed) {
                selector.select();
                for (Iterator<SelectionKey> ready = selector.selectedKeys().iterator(); ready.hasNext(); ) {
                    SelectionKey key = ready.next();
                    ready.remove();
                    if (key.isAcceptable()) {
                        accept();
                    } else {
                        answer((SocketChannel) key.channel());
                    }
                }
                if (isChanged) {
                    isChanged = false;
                    for (SocketChannel connection : connections) {
                        connection.write(event.clear());
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void accept() throws IOException {
        for (SocketChannel next = listening.accept(); next != null; next = listening.accept()) {
            next.setOption(StandardSocketOptions.TCP_NODELAY, true);
            next.configureBlocking(false);
            next.register(selector, SelectionKey.OP_READ);
            connections.add(next);
        }
    }

    private void answer(SocketChannel connection) throws IOException {
        if (connection.read(request.clear()) > CLOSE_BYTES) {
            connection.write(event.clear());
        } else {
            connections.remove(connection);
            connection.close();
        }
    }

    /** Closes all connections. Blocks. */
    @Override
    public void close() throws IOException {
        isClosed = true;
        selector.wakeup();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new BenchmarkException("interrupted", e);
        }
        for (SocketChannel connection : connections) {
            connection.close();
        }
        listening.close();
        selector.close();
    }
}
