package io.conclave.launcher;

import io.conclave.connection.SuperUser;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.Frames;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.Xid;
import io.conclave.tree.SnapshotCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;

/**
 * Asks a server for its members, to change them, or for a backup, as the user {@code super}; members as ZooKeeper's own
 * tools would, with reconfig. One request after the other, blocking.
 */
final class AdminClient implements AutoCloseable {
    private static final String CONFIG = "/zookeeper/config";
    private static final String RAISE_LEVEL = "/zookeeper/conclave/raise-level";
    private static final String BACKUP = "/zookeeper/conclave/backup";
    private static final int SESSION_TIMEOUT_MS = 30_000;
    /** A member that joins may have to be sent everything before it is a member. */
    private static final int ANSWER_LIMIT_MS = 120_000;

    private static final int MAX_ANSWER_BYTES = 4 * Frames.DEFAULT_MAX_PAYLOAD_BYTES;

    private final Socket socket = new Socket();
    private final DataInputStream in;
    private int xid;

    AdminClient(InetSocketAddress address, String secret) throws IOException {
        socket.connect(address, SESSION_TIMEOUT_MS);
        socket.setSoTimeout(ANSWER_LIMIT_MS);
        in = new DataInputStream(socket.getInputStream());
        ByteBuf hello = Unpooled.buffer();
        Frames.write(
                hello, new ConnectRequest(0, 0, SESSION_TIMEOUT_MS, 0, SuperUser.sessionPassword(secret), false, true));
        try {
            send(hello);
            ConnectResponse.decode(new JuteReader(readFrame(MAX_ANSWER_BYTES)));
        } catch (EOFException | SocketException e) {
            throw new IOException(
                    "the server opened no session and ended the connection at once. It has no leader or is about to "
                            + "stop (the command status says which), its disk is full, or there are too many "
                            + "connections already (maxClientCnxns, maxCnxns). The server's log says more",
                    e);
        }
        byte[] credentials = ("super:" + secret).getBytes(StandardCharsets.UTF_8);
        call(Xid.AUTH, new ConnectionRequest.Auth(0, "digest", credentials));
    }

    /** The data of {@code /zookeeper/config}. */
    String members() throws IOException {
        return text(call(++xid, new RequestBody.GetData(CONFIG, false)));
    }

    /** The members after the change; blocks until it is committed. */
    String reconfig(String joining, String leaving) throws IOException {
        return text(call(++xid, new RequestBody.Reconfig(joining, leaving, null, -1)));
    }

    /** Has the server catch up with all that is committed now. */
    void sync() throws IOException {
        call(++xid, new RequestBody.Sync("/"));
    }

    /** Raises the feature level; returns the server's sentence about the outcome. */
    String raiseLevel() throws IOException {
        return text(call(++xid, new RequestBody.GetData(RAISE_LEVEL, false)));
    }

    /**
     * The next piece of a backup; empty behind its end. A piece holds a whole znode, which came by an import if it is
     * larger than a request may be.
     */
    byte[] backupPiece() throws IOException {
        byte[] piece = ((ReplyBody.GetData)
                        call(++xid, new RequestBody.GetData(BACKUP, false), SnapshotCodec.MAX_CHUNK_BYTES))
                .data();
        return piece == null ? new byte[0] : piece;
    }

    private static String text(ReplyBody body) {
        byte[] data = ((ReplyBody.GetData) body).data();
        return data == null ? "" : new String(data, StandardCharsets.UTF_8);
    }

    private ReplyBody call(int number, RequestBody request) throws IOException {
        return call(number, request, MAX_ANSWER_BYTES);
    }

    private ReplyBody call(int number, RequestBody request, int maxBytes) throws IOException {
        ByteBuf out = Unpooled.buffer();
        Frames.writeRequest(out, number, request);
        JuteReader reader = new JuteReader(exchange(out, maxBytes));
        ReplyHeader header = ReplyHeader.decode(reader);
        if (header.err() == ErrorCode.NEW_CONFIG_NO_QUORUM.code()) {
            throw new IOException(
                    "of the servers that would vote then, no majority answers the leader (one that would get"
                            + " another address is not counted). The change could"
                            + " not be committed, every write would wait behind it, and no server could lead. Bring "
                            + "one of them back first. With --force it is made anyway: if no majority of the new "
                            + "voters comes back, the cluster has ended, and what it holds is lost");
        }
        if (header.err() != ErrorCode.OK.code()) {
            throw new IOException("the server refused it with error " + header.err() + " ("
                    + ErrorCode.lookup(header.err()).map(Enum::name).orElse("unknown")
                    + "); its log says why");
        }
        OpCode opCode = request.opCode();
        return ReplyBody.decode(opCode, reader);
    }

    private ByteBuf exchange(ByteBuf request, int maxBytes) throws NoAnswerException {
        try {
            send(request);
            return readFrame(maxBytes);
        } catch (IOException e) {
            throw new NoAnswerException(e);
        }
    }

    /** The connection ended after a request was sent, so it may take effect. */
    static final class NoAnswerException extends IOException {
        private static final long serialVersionUID = 1;

        NoAnswerException(IOException cause) {
            super(
                    "The connection ended before the answer (" + cause
                            + "), so it is not known whether a change was made. The command members shows it once "
                            + "there is a leader.",
                    cause);
        }
    }

    private void send(ByteBuf out) throws IOException {
        out.readBytes(socket.getOutputStream(), out.readableBytes());
        socket.getOutputStream().flush();
    }

    /** Takes memory for what has come, and not for what is announced. */
    private ByteBuf readFrame(int maxBytes) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > maxBytes) {
            throw new IOException("the server announced an answer of " + length + " bytes, and " + maxBytes
                    + " are the most: what listens there is no server of this version");
        }
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException("the server ended the connection within an answer of " + length + " bytes");
        }
        return Unpooled.wrappedBuffer(bytes);
    }

    /**
     * Ends the session, so that it does not stand in the way until it expires. What was asked is done by now, so a
     * server that ends first is no failure: it does when its own member was removed.
     */
    @Override
    public void close() {
        try (socket) {
            ByteBuf bye = Unpooled.buffer();
            Frames.writeRequest(bye, ++xid, new ConnectionRequest.Empty(OpCode.CLOSE_SESSION));
            send(bye);
            readFrame(MAX_ANSWER_BYTES);
        } catch (IOException ignored) {
            // its session expires
        }
    }
}
