package io.conclave.benchmarks;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A session over a blocking socket, with the few bytes that it needs: costs next to nothing. Not thread-safe. */
final class RawSession implements AutoCloseable {
    private static final int CREATE = 1;
    private static final int EXISTS = 3;
    private static final int SET_DATA = 5;
    private static final int PING = 11;
    private static final int CLOSE_SESSION = -11;
    private static final int PING_XID = -2;
    private static final int ALL_PERMISSIONS = 31;
    private static final int ANY_VERSION = -1;
    private static final int CHILDREN = 1000; // of each parent
    private static final int ANSWER_MS = 60_000;

    private final Socket socket = new Socket();
    private final DataInputStream in;
    private final OutputStream out;
    private int xid;

    /** What fills a frame. */
    @FunctionalInterface
    private interface Body {
        void write(DataOutputStream out) throws IOException;
    }

    /** Opens a session. Blocks. */
    RawSession(int port, int sessionTimeoutMs) throws IOException {
        this(port, sessionTimeoutMs, ANSWER_MS);
    }

    /**
     * Opens a session. Blocks.
     *
     * @param answerMs how long an answer is waited for
     */
    RawSession(int port, int sessionTimeoutMs, int answerMs) throws IOException {
        socket.setSoTimeout(answerMs);
        socket.setTcpNoDelay(true);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        in = new DataInputStream(socket.getInputStream());
        out = socket.getOutputStream();
        out.write(connectFrame(sessionTimeoutMs));
        in.readFully(new byte[in.readInt()]);
    }

    /** The request for a new session. */
    static byte[] connectFrame(int sessionTimeoutMs) throws IOException {
        return frame(body -> {
            body.writeInt(0); // protocol version
            body.writeLong(0); // zxid seen
            body.writeInt(sessionTimeoutMs);
            body.writeLong(0); // session id
            body.writeInt(16);
            body.write(new byte[16]); // password
        });
    }

    /** The question whether a znode exists, with a watch on it. */
    static byte[] existsFrame(String path) throws IOException {
        return frame(body -> {
            body.writeInt(1);
            body.writeInt(EXISTS);
            writeText(body, path);
            body.writeBoolean(true);
        });
    }

    /** The request to end the session. */
    static byte[] closeFrame() throws IOException {
        return frame(body -> {
            body.writeInt(2);
            body.writeInt(CLOSE_SESSION);
        });
    }

    private static byte[] frame(Body body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream data = new DataOutputStream(bytes);
        data.writeInt(0);
        body.write(data);
        byte[] frame = bytes.toByteArray();
        int length = frame.length - Integer.BYTES;
        for (int i = 0; i < Integer.BYTES; i++) {
            frame[i] = (byte) (length >> (8 * (Integer.BYTES - 1 - i)));
        }
        return frame;
    }

    private static void writeText(DataOutputStream body, String text) throws IOException {
        body.writeInt(text.length());
        body.write(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Sends a ping; its answer is to be read by {@link #read}. */
    void sendPing() throws IOException {
        out.write(frame(body -> {
            body.writeInt(PING_XID);
            body.writeInt(PING);
        }));
    }

    /** Reads one answer. Blocks. */
    void read() throws IOException {
        byte[] answer = new byte[in.readInt()];
        in.readFully(answer);
        int error = answer[12] << 24 | (answer[13] & 0xff) << 16 | (answer[14] & 0xff) << 8 | (answer[15] & 0xff);
        if (error != 0) {
            throw new BenchmarkException("the server answered with the error " + error);
        }
    }

    /** Creates a persistent znode. Blocks. */
    void create(String path) throws IOException {
        createAll(List.of(path), new byte[0]);
    }

    /** Creates persistent znodes with the same data; sends all before it reads an answer. Blocks. */
    void createAll(List<String> paths, byte[] data) throws IOException {
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        for (String path : paths) {
            frames.write(frame(body -> writeCreate(body, ++xid, path, data)));
        }
        out.write(frames.toByteArray());
        for (int i = 0; i < paths.size(); i++) {
            read();
        }
    }

    /** Creates so many znodes with the same data, a thousand below each of {@code /parent0}, ... Blocks. */
    void fill(int znodes, byte[] data) throws IOException {
        for (int parent = 0; parent < znodes / CHILDREN; parent++) {
            String path = "/parent" + parent;
            create(path);
            List<String> children = new ArrayList<>();
            for (int child = 0; child < CHILDREN; child++) {
                children.add(path + "/child" + child);
            }
            createAll(children, data);
        }
    }

    private static void writeCreate(DataOutputStream body, int xid, String path, byte[] data) throws IOException {
        body.writeInt(xid);
        body.writeInt(CREATE);
        writeText(body, path);
        body.writeInt(data.length);
        body.write(data);
        body.writeInt(1);
        body.writeInt(ALL_PERMISSIONS);
        writeText(body, "world");
        writeText(body, "anyone");
        body.writeInt(0); // persistent
    }

    /** Sets a znode's data. Blocks until the answer is there. */
    void set(String path, byte[] data) throws IOException {
        sendSet(path, data);
        read();
    }

    /** Asks for a znode's data to be set; the answer is to be read by {@link #read}. */
    void sendSet(String path, byte[] data) throws IOException {
        out.write(frame(body -> {
            body.writeInt(++xid);
            body.writeInt(SET_DATA);
            writeText(body, path);
            body.writeInt(data.length);
            body.write(data);
            body.writeInt(ANY_VERSION);
        }));
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
