package io.conclave.proofs.hostile;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.Frames;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.Xid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;

/** A session over a blocking socket, from an address of its own in 127.0.0.0/8. One thread sends, one may read. */
final class RawConnection implements AutoCloseable {
    private static final int SILENCE_MS = 60_000;

    private final Socket socket = new Socket();
    private final DataInputStream in;
    private int nextXid = 1;

    RawConnection(int port, int lastByteOfAddress) throws IOException {
        this(port, lastByteOfAddress, 0);
    }

    /** @param receiveBytes what the kernel takes for it before it reads; 0 for what is usual */
    private RawConnection(int port, int lastByteOfAddress, int receiveBytes) throws IOException {
        if (receiveBytes > 0) {
            socket.setReceiveBufferSize(receiveBytes);
        }
        socket.bind(
                new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) lastByteOfAddress}), 0));
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), SILENCE_MS);
        socket.setSoTimeout(SILENCE_MS);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 64 * 1024));
    }

    /** With a new session. */
    static RawConnection attached(int port, int lastByteOfAddress) throws IOException {
        RawConnection connection = new RawConnection(port, lastByteOfAddress);
        connection.shakeHands();
        connection.in.readFully(new byte[connection.in.readInt()]);
        return connection;
    }

    /** With a new session of which nothing is read, not even the greeting. */
    static RawConnection unread(int port, int lastByteOfAddress) throws IOException {
        RawConnection connection = new RawConnection(port, lastByteOfAddress, 16 * 1024);
        connection.shakeHands();
        return connection;
    }

    private void shakeHands() throws IOException {
        greet(greeting(30_000, 0));
    }

    /** @param sessionId 0 for a new session */
    static ConnectRequest greeting(int timeoutMs, long sessionId) {
        return new ConnectRequest(0, 0, timeoutMs, sessionId, new byte[16], false, true);
    }

    private void greet(ConnectRequest greeting) throws IOException {
        ByteBuf out = Unpooled.buffer();
        Frames.write(out, greeting);
        write(out);
    }

    /** Greets the server, and goes when that has answered. */
    static void greetAndGo(int port, int lastByteOfAddress, ConnectRequest greeting) throws IOException {
        try (RawConnection connection = new RawConnection(port, lastByteOfAddress)) {
            connection.greet(greeting);
            connection.in.readFully(new byte[connection.in.readInt()]);
        }
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
