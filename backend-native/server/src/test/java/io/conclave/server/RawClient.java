package io.conclave.server;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.Frames;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatcherEvent;
import io.conclave.protocol.Xid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Speaks the wire protocol over a blocking socket, frame by frame, with nothing of a client's cleverness. */
final class RawClient implements AutoCloseable {
    private final Socket socket;
    private final DataInputStream in;
    private final Map<Integer, OpCode> sent = new HashMap<>();
    private int nextXid = 1;

    /** A frame from the server; the body is there if there was no error. */
    record Message(ReplyHeader header, Optional<ReplyBody> body, Optional<WatcherEvent> event) {
        boolean isEvent() {
            return header.xid() == Xid.WATCH_EVENT;
        }
    }

    RawClient(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(60_000);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
    }

    static RawClient attached(int port, int timeoutMs) throws IOException {
        RawClient client = new RawClient(port);
        client.connect(timeoutMs);
        return client;
    }

    ConnectResponse connect(int timeoutMs) throws IOException {
        return connect(new ConnectRequest(0, 0, timeoutMs, 0, new byte[16], false, true));
    }

    void sendConnect(int timeoutMs) throws IOException {
        sendConnect(new ConnectRequest(0, 0, timeoutMs, 0, new byte[16], false, true));
    }

    void sendConnect(ConnectRequest request) throws IOException {
        ByteBuf out = Unpooled.buffer();
        Frames.write(out, request);
        write(out);
    }

    ConnectResponse connect(ConnectRequest request) throws IOException {
        sendConnect(request);
        return ConnectResponse.decode(new JuteReader(readFrame()));
    }

    void write(ByteBuf out) throws IOException {
        out.readBytes(socket.getOutputStream(), out.readableBytes());
        socket.getOutputStream().flush();
    }

    /** Sends several requests in one write. */
    void send(RequestBody... bodies) throws IOException {
        ByteBuf out = Unpooled.buffer();
        for (RequestBody body : bodies) {
            int xid =
                    switch (body.opCode()) {
                        case PING -> Xid.PING;
                        case AUTH -> Xid.AUTH;
                        case SET_WATCHES, SET_WATCHES2 -> Xid.SET_WATCHES;
                        default -> nextXid++;
                    };
            sent.put(xid, body.opCode());
            Frames.writeRequest(out, xid, body);
        }
        write(out);
    }

    Message read() throws IOException {
        JuteReader reader = new JuteReader(readFrame());
        ReplyHeader header = ReplyHeader.decode(reader);
        if (header.xid() == Xid.WATCH_EVENT) {
            return new Message(header, Optional.empty(), Optional.of(WatcherEvent.decode(reader)));
        }
        OpCode opCode = sent.get(header.xid());
        if (opCode == null) {
            throw new IllegalStateException("a reply to " + header.xid() + ", which was not sent");
        }
        return new Message(
                header,
                header.err() == 0 ? Optional.of(ReplyBody.decode(opCode, reader)) : Optional.empty(),
                Optional.empty());
    }

    ReplyHeader readHeader() throws IOException {
        return ReplyHeader.decode(new JuteReader(readFrame()));
    }

    Message call(RequestBody body) throws IOException {
        send(body);
        return read();
    }

    /** The error code that answers a request; 0 if there was none. */
    int error(RequestBody body) throws IOException {
        return call(body).header().err();
    }

    <R extends ReplyBody> R call(RequestBody body, Class<R> type) throws IOException {
        Message message = call(body);
        if (message.header().err() != 0) {
            throw new IllegalStateException(
                    body + " failed with " + message.header().err());
        }
        return type.cast(message.body().orElseThrow());
    }

    private ByteBuf readFrame() throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return Unpooled.wrappedBuffer(bytes);
    }

    /** Whether the server closes the connection, whatever it sends before. */
    boolean isClosedByServer() {
        try {
            in.readAllBytes();
            return true;
        } catch (IOException e) {
            return e.getMessage() != null && e.getMessage().contains("reset");
        }
    }

    Socket socket() {
        return socket;
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
