package io.conclave.proofs.differential;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.Optional;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.proto.ConnectRequest;
import org.apache.zookeeper.proto.ConnectResponse;
import org.apache.zookeeper.proto.RequestHeader;

/**
 * A session over a blocking socket that sends what it is told, with ZooKeeper's own records and none of its client's
 * checks.
 */
final class RawSession {
    static final int TIMEOUT_MS = 30_000;

    private final int port;
    private Socket socket;
    private DataInputStream in;
    private ConnectResponse attached;

    RawSession(int port) throws IOException {
        this.port = port;
        attach(new ConnectRequest(0, 0, TIMEOUT_MS, 0, new byte[16], false));
    }

    private void attach(ConnectRequest request) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(20_000);
        in = new DataInputStream(new java.io.BufferedInputStream(socket.getInputStream()));
        write(framed(bytesOf(request)));
        ConnectResponse response = new ConnectResponse();
        response.deserialize(BinaryInputArchive.getArchive(readFrame().orElseThrow()), "");
        attached = response;
    }

    ConnectResponse attached() {
        return attached;
    }

    /** Drops the connection and takes the session up again on another one. */
    void resume(long lastZxid) throws IOException {
        socket.close();
        attach(new ConnectRequest(0, lastZxid, TIMEOUT_MS, attached.getSessionId(), attached.getPasswd(), false));
    }

    void drop() throws IOException {
        socket.close();
    }

    void write(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
    }

    /** The next frame; empty if the server has closed. */
    Optional<DataInputStream> readFrame() throws IOException {
        try {
            byte[] frame = new byte[in.readInt()];
            in.readFully(frame);
            return Optional.of(new DataInputStream(new ByteArrayInputStream(frame)));
        } catch (EOFException e) {
            return Optional.empty();
        } catch (SocketException e) {
            return Optional.empty();
        }
    }

    static byte[] frame(int xid, int type, byte[] body) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(bytesOf(new RequestHeader(xid, type)));
        out.writeBytes(body);
        return framed(out.toByteArray());
    }

    static byte[] bytesOf(Record record) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        record.serialize(BinaryOutputArchive.getArchive(out), "");
        return out.toByteArray();
    }

    static byte[] framed(byte[] payload) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        DataOutputStream data = new DataOutputStream(out);
        data.writeInt(payload.length);
        data.write(payload);
        return out.toByteArray();
    }
}
