package io.conclave.consensus.peer;

import io.conclave.consensus.entry.EnsembleMember;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.function.Consumer;

/** Frames to and from the port of a member, of a command that is no member. Its methods block, for seconds at most. */
final class Conversation implements AutoCloseable {
    private static final int CONNECT_MS = 2_000;
    private static final int ANSWER_MS = 5_000;
    private static final int MAX_FRAME_BYTES = 32 * 1024;

    private final Socket socket;
    private final DataInputStream in;

    private Conversation(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new DataInputStream(socket.getInputStream());
    }

    static Conversation with(EnsembleMember member) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(member.host(), member.peerPort()), CONNECT_MS);
            socket.setSoTimeout(ANSWER_MS);
            return new Conversation(socket);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e instanceof IOException failed ? failed : new IOException(e);
        }
    }

    void say(Consumer<ByteBuf> payload) throws IOException {
        ByteBuf out = Unpooled.buffer().writeInt(0);
        payload.accept(out);
        out.setInt(0, out.readableBytes() - Integer.BYTES);
        socket.getOutputStream().write(ByteBufUtil.getBytes(out));
    }

    /** The next frame that is no keepalive. */
    ByteBuf hear() throws IOException {
        int length = in.readInt();
        while (length == 0) {
            length = in.readInt();
        }
        if (length < 0 || length > MAX_FRAME_BYTES) {
            throw new IOException("a frame of " + length + " bytes came in place of a handshake");
        }
        byte[] frame = new byte[length];
        in.readFully(frame);
        return Unpooled.wrappedBuffer(frame);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
