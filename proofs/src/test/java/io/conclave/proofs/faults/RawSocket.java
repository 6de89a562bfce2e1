package io.conclave.proofs.faults;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A connection that says whatever a test wants. It comes from an address of its own in 127.0.0.0/8, so that its faults
 * do not count for others.
 */
final class RawSocket implements AutoCloseable {
    private static final int SILENCE_MS = 30_000;

    private final Socket socket = new Socket();
    private final DataOutputStream out;
    private final DataInputStream in;

    RawSocket(int port, int lastByteOfAddress) throws IOException {
        socket.bind(new InetSocketAddress(address(lastByteOfAddress), 0));
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), SILENCE_MS);
        socket.setSoTimeout(SILENCE_MS);
        out = new DataOutputStream(socket.getOutputStream());
        in = new DataInputStream(socket.getInputStream());
    }

    private static InetAddress address(int lastByte) throws IOException {
        return InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) lastByte});
    }

    /** What the server answered to a handshake; a session id of 0 means no. */
    record Welcome(int timeoutMs, long sessionId, byte[] password) {}

    /** Sends bytes; a connection that the server has closed meanwhile is no failure. Returns whether it went out. */
    boolean send(byte[] bytes) throws IOException {
        try {
            out.write(bytes);
            out.flush();
            return true;
        } catch (SocketException e) {
            return false;
        }
    }

    /** Opens a session. */
    Welcome hello(int timeoutMs) throws IOException {
        return hello(timeoutMs, 0, new byte[16]);
    }

    Welcome hello(int timeoutMs, long sessionId, byte[] password) throws IOException {
        send(handshake(timeoutMs, sessionId, password));
        in.readInt();
        in.readInt();
        int grantedMs = in.readInt();
        long id = in.readLong();
        byte[] granted = in.readNBytes(in.readInt());
        in.readByte();
        return new Welcome(grantedMs, id, granted);
    }

    /** Reads and drops until the server closes. */
    void awaitClosed() throws IOException {
        byte[] drain = new byte[8192];
        try {
            int count = in.read(drain);
            while (count >= 0) {
                count = in.read(drain);
            }
        } catch (EOFException | SocketException e) {
            // closed with a reset: closed as well
        }
    }

    /** Whether the server has closed by now, without waiting for long. */
    boolean isClosedWithin(int ms) throws IOException {
        socket.setSoTimeout(ms);
        try {
            return in.read() < 0;
        } catch (java.net.SocketTimeoutException e) {
            return false;
        } catch (SocketException e) {
            return true;
        } finally {
            socket.setSoTimeout(SILENCE_MS);
        }
    }

    static byte[] handshake(int timeoutMs, long sessionId, byte[] password) {
        ByteBuffer bytes = ByteBuffer.allocate(4 + 29 + password.length);
        bytes.putInt(29 + password.length)
                .putInt(0)
                .putLong(0)
                .putInt(timeoutMs)
                .putLong(sessionId);
        return bytes.putInt(password.length).put(password).put((byte) 0).array();
    }

    static byte[] setData(int xid, String path, byte[] data) {
        return frame(out -> {
            out.writeInt(xid);
            out.writeInt(5);
            writeBuffer(out, path.getBytes(StandardCharsets.UTF_8));
            writeBuffer(out, data);
            out.writeInt(-1);
        });
    }

    static byte[] getData(int xid, String path) {
        return frame(out -> {
            out.writeInt(xid);
            out.writeInt(4);
            writeBuffer(out, path.getBytes(StandardCharsets.UTF_8));
            out.writeBoolean(true);
        });
    }

    static byte[] create(int xid, String path, byte[] data) {
        return frame(out -> {
            out.writeInt(xid);
            out.writeInt(1);
            writeBuffer(out, path.getBytes(StandardCharsets.UTF_8));
            writeBuffer(out, data);
            out.writeInt(1);
            out.writeInt(31);
            writeBuffer(out, "world".getBytes(StandardCharsets.UTF_8));
            writeBuffer(out, "anyone".getBytes(StandardCharsets.UTF_8));
            out.writeInt(0);
        });
    }

    private interface Writer {
        void to(DataOutputStream out) throws IOException;
    }

    private static byte[] frame(Writer payload) {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            payload.to(new DataOutputStream(bytes));
            return ByteBuffer.allocate(4 + bytes.size())
                    .putInt(bytes.size())
                    .put(bytes.toByteArray())
                    .array();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void writeBuffer(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
