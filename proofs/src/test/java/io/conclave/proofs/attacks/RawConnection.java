package io.conclave.proofs.attacks;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.Frames;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.Xid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import javax.net.ssl.SSLSocket;

/** A session over a blocking socket, from an address of its own in 127.0.0.0/8. One thread sends, one may read. */
final class RawConnection implements AutoCloseable {
    private static final int SILENCE_MS = 60_000;

    private final Socket socket;
    private final DataInputStream in;
    private int nextXid = 1;

    RawConnection(int port, int lastByteOfAddress) throws IOException {
        this(plain(port, lastByteOfAddress, 0));
    }

    private RawConnection(Socket socket) throws IOException {
        this.socket = socket;
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 64 * 1024));
    }

    /** @param receiveBytes what the kernel takes for it before it reads; 0 for what is usual */
    private static Socket plain(int port, int lastByteOfAddress, int receiveBytes) throws IOException {
        Socket socket = new Socket();
        if (receiveBytes > 0) {
            socket.setReceiveBufferSize(receiveBytes);
        }
        socket.bind(
                new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) lastByteOfAddress}), 0));
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), SILENCE_MS);
        socket.setSoTimeout(SILENCE_MS);
        socket.setTcpNoDelay(true);
        return socket;
    }

    /** With a new session. */
    static RawConnection attached(int port, int lastByteOfAddress) throws IOException {
        return new RawConnection(port, lastByteOfAddress).attach();
    }

    /** With a new session, over TLS; any server is trusted. */
    static RawConnection attachedOverTls(int port, int lastByteOfAddress) throws IOException {
        return new RawConnection(StrangersTls.over(plain(port, lastByteOfAddress, 0))).attach();
    }

    private RawConnection attach() throws IOException {
        shakeHands();
        in.readFully(new byte[in.readInt()]);
        return this;
    }

    /** With a new session of which nothing is read, not even the greeting. */
    static RawConnection unread(int port, int lastByteOfAddress, boolean overTls) throws IOException {
        Socket socket = plain(port, lastByteOfAddress, 16 * 1024);
        RawConnection connection = new RawConnection(overTls ? StrangersTls.over(socket) : socket);
        connection.shakeHands();
        return connection;
    }

    private void shakeHands() throws IOException {
        write(Unpooled.wrappedBuffer(greeting(30_000, 0)));
    }

    /** @param sessionId 0 for a new session */
    static byte[] greeting(int timeoutMs, long sessionId) {
        ByteBuf out = Unpooled.buffer();
        Frames.write(out, new ConnectRequest(0, 0, timeoutMs, sessionId, new byte[16], false, true));
        return ByteBufUtil.getBytes(out);
    }

    /** Says something to the server, and goes when that has begun to answer. */
    static void openAndGo(int port, int lastByteOfAddress, byte[] opening) throws IOException {
        try (RawConnection connection = new RawConnection(port, lastByteOfAddress)) {
            connection.write(Unpooled.wrappedBuffer(opening));
            connection.in.readByte();
        }
    }

    /** All but the last byte, so that the server goes on waiting for it. */
    void openWithoutEnd(byte[] opening) throws IOException {
        write(Unpooled.wrappedBuffer(opening, 0, opening.length - 1));
    }

    /** Of a connection over TLS 1.3: the next record has another key, and so are those of the server to have. */
    void askForNewKeys() throws IOException {
        ((SSLSocket) socket).startHandshake();
    }

    void send(RequestBody request) throws IOException {
        write(frameOf(request));
    }

    /** All but the last byte, so that the server goes on waiting for it. */
    void sendWithoutEnd(RequestBody request) throws IOException {
        ByteBuf frame = frameOf(request);
        write(frame.slice(0, frame.readableBytes() - 1));
    }

    private ByteBuf frameOf(RequestBody request) {
        ByteBuf out = Unpooled.buffer(1024);
        int xid =
                switch (request.opCode()) {
                    case AUTH -> Xid.AUTH;
                    case SET_WATCHES, SET_WATCHES2 -> Xid.SET_WATCHES;
                    case PING -> Xid.PING;
                    default -> nextXid++;
                };
        Frames.writeRequest(out, xid, request);
        return out;
    }

    private void write(ByteBuf out) throws IOException {
        socket.getOutputStream().write(out.array(), out.arrayOffset(), out.readableBytes());
        socket.getOutputStream().flush();
    }

    /** The error of the next reply; skips events. */
    int readError() throws IOException {
        return ReplyHeader.decode(nextReply()).err();
    }

    private JuteReader nextReply() throws IOException {
        while (true) {
            byte[] frame = new byte[in.readInt()];
            in.readFully(frame);
            if (ReplyHeader.decode(new JuteReader(Unpooled.wrappedBuffer(frame)))
                            .xid()
                    != Xid.WATCH_EVENT) {
                return new JuteReader(Unpooled.wrappedBuffer(frame));
            }
        }
    }

    /** The names of the children of a znode; none if there is no such znode. */
    List<String> children(String path) throws IOException {
        send(new RequestBody.GetChildren(path, false));
        JuteReader reply = nextReply();
        return ReplyHeader.decode(reply).err() == 0
                ? ((ReplyBody.GetChildren) ReplyBody.decode(OpCode.GET_CHILDREN, reply)).children()
                : List.of();
    }

    int call(RequestBody request) throws IOException {
        send(request);
        return readError();
    }

    /** Reads and drops whatever comes, until the connection ends. */
    void drain() {
        byte[] buffer = new byte[64 * 1024];
        try {
            while (in.read(buffer) >= 0) {
                // dropped
            }
        } catch (IOException e) {
            // closed, or silent for too long: the end as well
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
