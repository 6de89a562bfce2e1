package io.conclave.client;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.EventType;
import io.conclave.protocol.Frames;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.RequestHeader;
import io.conclave.protocol.StatRecord;
import io.conclave.protocol.WatcherEvent;
import io.conclave.protocol.Xid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** A server that says what its script tells it, one script a connection; the last one is repeated. */
final class FakeServer implements AutoCloseable {
    static final StatRecord STAT = new StatRecord(1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1);
    static final long SESSION = 0xabcL;

    /** What one connection does; returning closes it. */
    interface Script {
        void run(Peer peer) throws Exception;
    }

    /** A request that came in. */
    record Received(int xid, OpCode opCode, RequestBody body) {}

    private final ServerSocket socket;
    private final Queue<Script> scripts;
    private final List<Peer> peers = new CopyOnWriteArrayList<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private volatile boolean closed;
    final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();

    FakeServer(Script... scripts) {
        socket = listen();
        this.scripts = new ArrayDeque<>(Arrays.asList(scripts));
        start("accept", this::acceptAll);
    }

    /**
     * On a loopback address of its own: the port may be one that belonged to another test's server a moment ago, whose
     * clients still try to connect.
     */
    private static ServerSocket listen() {
        byte[] own = new byte[4];
        ThreadLocalRandom.current().nextBytes(own);
        own[0] = 127;
        own[3] = 1; // neither the network's address nor the one for all
        try {
            return new ServerSocket(0, 50, InetAddress.getByAddress(own));
        } catch (IOException onlyOneHere) { // not on Linux
            try {
                return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    String url() {
        return "conclave://" + endpoint();
    }

    String endpoint() {
        return host() + ":" + socket.getLocalPort();
    }

    String host() {
        return socket.getInetAddress().getHostAddress();
    }

    /** How often clients asked for the members of the ensemble. */
    int membersAsked() {
        return peers.stream().mapToInt(peer -> peer.membersAsked.get()).sum();
    }

    int accepted() {
        return accepted.get();
    }

    private void acceptAll() {
        try {
            while (true) {
                Peer peer = new Peer(socket.accept());
                if (closed) {
                    // The thread that waits in accept may be given one more connection after the socket was closed.
                    peer.close();
                    return;
                }
                accepted.incrementAndGet();
                peers.add(peer);
                Script script = scripts.size() > 1 ? scripts.poll() : scripts.peek();
                start("peer", () -> run(script, peer));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void run(Script script, Peer peer) {
        try (peer) {
            script.run(peer);
        } catch (EOFException | SocketException e) {
            // the client went
        } catch (Throwable e) {
            failures.add(e);
        }
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, "fake-server-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        closed = true;
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        peers.forEach(Peer::close);
        if (!failures.isEmpty()) {
            throw new AssertionError("a script failed", failures.peek());
        }
    }

    /** The server's end of one connection. */
    static final class Peer implements AutoCloseable {
        private final Socket socket;
        private final DataInputStream in;
        boolean answersPings = true;
        /** Whether pings are requests like others, for the script to answer. */
        boolean showsPings;

        /** The data of /zookeeper/config; empty if there is no such znode. */
        volatile String members = "";

        final AtomicInteger pings = new AtomicInteger();
        final AtomicInteger membersAsked = new AtomicInteger();

        Peer(Socket socket) throws IOException {
            this.socket = socket;
            socket.setTcpNoDelay(true);
            in = new DataInputStream(socket.getInputStream());
        }

        private JuteReader frame() throws IOException {
            byte[] payload = new byte[in.readInt()];
            in.readFully(payload);
            return new JuteReader(Unpooled.wrappedBuffer(payload));
        }

        ConnectRequest readGreeting() throws IOException {
            return ConnectRequest.decode(frame());
        }

        /** Grants the session with this timeout. */
        void accept(ConnectRequest request, int timeoutMs) throws IOException {
            byte[] password = new byte[16];
            Arrays.fill(password, (byte) 7);
            long id = request.sessionId() == 0 ? SESSION : request.sessionId();
            greet(new ConnectResponse(0, timeoutMs, id, password, false, true));
        }

        void greet(ConnectResponse response) throws IOException {
            ByteBuf out = Unpooled.buffer();
            Frames.write(out, response);
            send(out);
        }

        /** Greets and answers the question whose server this is with "not ours". */
        ConnectRequest open(int timeoutMs) throws IOException {
            ConnectRequest request = readGreeting();
            accept(request, timeoutMs);
            answerIdentity(null);
            return request;
        }

        /** Reads the question whose server this is, and answers. */
        void answerIdentity(String lines) throws IOException {
            Received question = next();
            if (!(question.body() instanceof RequestBody.GetData get)
                    || !get.path().equals("/zookeeper/conclave")) {
                throw new AssertionError("not the question for the identity: " + question);
            }
            if (lines == null) {
                refuse(question, ErrorCode.NO_NODE);
            } else {
                reply(question, new ReplyBody.GetData(lines.getBytes(StandardCharsets.UTF_8), STAT));
            }
        }

        /** Reads the question for the members of the ensemble, which follows the one for the identity, and answers. */
        void awaitQuestionForMembers() throws IOException {
            JuteReader frame = frame();
            RequestHeader header = RequestHeader.decode(frame);
            OpCode opCode = header.opCode().orElseThrow();
            Received question = new Received(header.xid(), opCode, RequestBody.decode(opCode, frame));
            if (!asksForMembers(question)) {
                throw new AssertionError("not the question for the members: " + question);
            }
            answerMembers(question);
        }

        private static boolean asksForMembers(Received request) {
            return request.body() instanceof RequestBody.GetData get
                    && get.path().equals("/zookeeper/config");
        }

        private void answerMembers(Received question) throws IOException {
            membersAsked.incrementAndGet();
            if (members.isEmpty()) {
                refuse(question, ErrorCode.NO_NODE);
            } else {
                reply(question, new ReplyBody.GetData(members.getBytes(StandardCharsets.UTF_8), STAT));
            }
        }

        /** The next request; pings, and questions for the members of the ensemble, are answered on the way. */
        Received next() throws IOException {
            while (true) {
                JuteReader frame = frame();
                RequestHeader header = RequestHeader.decode(frame);
                OpCode opCode = header.opCode().orElseThrow();
                if (opCode != OpCode.PING || showsPings) {
                    Received request = new Received(header.xid(), opCode, RequestBody.decode(opCode, frame));
                    if (!asksForMembers(request)) {
                        return request;
                    }
                    answerMembers(request);
                    continue;
                }
                pings.incrementAndGet();
                if (answersPings) {
                    reply(Xid.PING, 0, ErrorCode.OK, ReplyBody.Empty.INSTANCE);
                }
            }
        }

        void reply(Received request, ReplyBody body) throws IOException {
            reply(request.xid(), 1, ErrorCode.OK, body);
        }

        void refuse(Received request, ErrorCode error) throws IOException {
            reply(request.xid(), 1, error, ReplyBody.Empty.INSTANCE);
        }

        void reply(int xid, long zxid, ErrorCode error, ReplyBody body) throws IOException {
            ByteBuf out = Unpooled.buffer();
            Frames.write(out, new ReplyHeader(xid, zxid, error.code()), body);
            send(out);
        }

        void event(EventType type, String path, long zxid) throws IOException {
            ByteBuf out = Unpooled.buffer();
            Frames.write(
                    out,
                    new ReplyHeader(Xid.WATCH_EVENT, zxid, ErrorCode.OK.code()),
                    new WatcherEvent(type.code(), WatcherEvent.STATE_CONNECTED, path));
            send(out);
        }

        void send(ByteBuf bytes) throws IOException {
            socket.getOutputStream().write(bytes.array(), 0, bytes.readableBytes());
        }

        /** Leaves everything but pings and the close unanswered. */
        void drain() throws IOException {
            while (true) {
                Received request = next();
                if (request.opCode() == OpCode.CLOSE_SESSION) {
                    reply(request, ReplyBody.Empty.INSTANCE);
                    return;
                }
            }
        }

        /** Reads until the client goes, and says nothing. */
        void ignore() throws IOException {
            in.transferTo(OutputStream.nullOutputStream());
        }

        @Override
        public void close() {
            try {
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
