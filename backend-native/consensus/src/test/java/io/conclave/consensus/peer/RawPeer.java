package io.conclave.consensus.peer;

import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.core.PeerMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.util.Random;
import java.util.function.Consumer;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;

/** One end of a link as a plain socket, which does as the test says and nothing else. */
final class RawPeer implements Closeable {
    final Socket socket;
    final DataInputStream in;

    /** Whether this end has made the connection. */
    private final boolean calls;

    RawPeer(Socket socket, boolean calls) throws IOException {
        this.socket = socket;
        this.calls = calls;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(120_000);
        this.in = new DataInputStream(socket.getInputStream());
    }

    static Socket connect(int port) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port);
    }

    static RawPeer dial(int port) throws IOException {
        return new RawPeer(connect(port), true);
    }

    static RawPeer accept(ServerSocket server) throws IOException {
        return new RawPeer(server.accept(), false);
    }

    RawPeer send(byte... bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        return this;
    }

    RawPeer frame(Consumer<ByteBuf> payload) throws IOException {
        return send(frameOf(payload));
    }

    static byte[] frameOf(Consumer<ByteBuf> payload) {
        ByteBuf out = Unpooled.buffer().writeInt(0);
        payload.accept(out);
        out.setInt(0, out.readableBytes() - 4);
        return ByteBufUtil.getBytes(out);
    }

    RawPeer hello(int wanted, PeerFacts facts) throws IOException {
        return frame(out -> PeerHandshake.writeHello(out, new PeerHandshake.Hello(wanted, facts)));
    }

    /** The caller's side of a handshake with proofs, as far as the called one goes along; its last outcome. */
    PeerHandshake.Reply prove(PeerSecrets secrets, int wanted, PeerFacts facts) throws IOException {
        CallersProof proof = new CallersProof(secrets, wanted, facts.memberId(), nonce());
        frame(proof::writeHello);
        ByteBuf challenge = receive();
        PeerHandshake.readVersion(challenge);
        PeerHandshake.Reply outcome = PeerHandshake.readReply(challenge);
        if (!outcome.accepted() || !proof.knows(challenge, binding())) {
            return outcome;
        }
        frame(out -> proof.writeAnswer(out, facts));
        ByteBuf reply = receive();
        PeerHandshake.readVersion(reply);
        return PeerHandshake.readReply(reply);
    }

    /** The called one's side of a handshake with proofs, with a caller that has the secret. */
    void proves(PeerSecrets secrets, PeerFacts facts) throws IOException {
        ByteBuf frame = receive();
        PeerHandshake.readVersion(frame);
        ProvenHandshake.Hello hello = ProvenHandshake.readHello(frame);
        ProvenHandshake.Exchange exchange =
                new ProvenHandshake.Exchange(hello.caller(), facts.memberId(), hello.nonce(), nonce(), binding());
        frame(out -> ProvenHandshake.writeChallenge(out, secrets, exchange));
        ByteBuf answer = receive();
        ProvenHandshake.readProof(answer);
        PeerFacts caller = PeerHandshake.readFacts(answer);
        byte[] proof = secrets.proof(0, exchange.replyText(caller, facts));
        frame(out -> ProvenHandshake.writeReply(out, proof, facts));
    }

    /** What ties proofs to this connection: the certificate of the called one, if it uses TLS. */
    byte[] binding() throws IOException {
        if (!(socket instanceof SSLSocket tls)) {
            return ProvenHandshake.UNBOUND;
        }
        SSLSession session = tls.getSession();
        Certificate[] chain = calls ? session.getPeerCertificates() : session.getLocalCertificates();
        try {
            return MessageDigest.getInstance("SHA-256").digest(chain[0].getEncoded());
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    static byte[] nonce() {
        byte[] nonce = new byte[ProvenHandshake.NONCE_BYTES];
        new Random().nextBytes(nonce);
        return nonce;
    }

    RawPeer accepts(PeerFacts facts) throws IOException {
        return frame(out -> PeerHandshake.writeReply(out, new PeerHandshake.Reply(true, ""), facts));
    }

    RawPeer message(PeerMessage message) throws IOException {
        return frame(out -> MessageCodec.write(out, message));
    }

    /** The next frame that is no keepalive. */
    ByteBuf receive() throws IOException {
        while (true) {
            byte[] payload = new byte[in.readInt()];
            in.readFully(payload);
            if (payload.length > 0) {
                return Unpooled.wrappedBuffer(payload);
            }
        }
    }

    PeerHandshake.Reply receiveReply() throws IOException {
        ByteBuf frame = receive();
        PeerHandshake.readVersion(frame);
        return PeerHandshake.readReply(frame);
    }

    PeerHandshake.Hello receiveHello() throws IOException {
        ByteBuf frame = receive();
        PeerHandshake.readVersion(frame);
        return PeerHandshake.readHello(frame);
    }

    /** Reads until the other end has closed it; returns how many bytes came. */
    long drain() throws IOException {
        long bytes = 0;
        byte[] buffer = new byte[64 * 1024];
        try {
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                bytes += read;
            }
        } catch (java.net.SocketTimeoutException e) {
            throw e;
        } catch (IOException e) {
            // a reset ends it as well
        }
        return bytes;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
