package io.conclave.consensus.peer;

import io.conclave.consensus.PeerTls;
import io.conclave.consensus.entry.EnsembleMember;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Frames to and from the port of a member, of a command that is no member. Its methods block, for seconds at most. */
final class Conversation implements AutoCloseable {
    private static final int CONNECT_MS = 2_000;
    private static final int ANSWER_MS = 5_000;
    private static final int MAX_FRAME_BYTES = 32 * 1024;

    /** A member has three election timeouts for a stranger, in which a cold JVM on a busy machine may not be ready. */
    private static final int HANDSHAKES = 5;

    private final Socket socket;
    private final Optional<Tls> tls;
    private final DataInputStream in;

    private Conversation(Socket socket, Optional<LinkTls> used) throws IOException {
        this.socket = socket;
        this.tls = used.map(link -> new Tls(socket, link));
        this.in = new DataInputStream(tls.isPresent() ? tls.get() : socket.getInputStream());
    }

    /** With TLS if members are dialled with it here; begins anew if a handshake of TLS is closed in the middle. */
    static Conversation with(EnsembleMember member, PeerTls tls) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                return once(member, tls);
            } catch (HandshakeClosedException e) {
                if (attempt == HANDSHAKES) {
                    throw e;
                }
            }
        }
    }

    private static Conversation once(EnsembleMember member, PeerTls tls) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(member.host(), member.peerPort()), CONNECT_MS);
            socket.setSoTimeout(ANSWER_MS);
            Optional<LinkTls> used = tls.dials()
                    ? Optional.of(LinkTls.calling(here(tls), member.host(), member.peerPort()))
                    : Optional.empty();
            Conversation with = new Conversation(socket, used);
            if (with.tls.isPresent()) {
                with.tls.get().shakeHands();
            }
            return with;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e instanceof IOException failed ? failed : new IOException(e);
        }
    }

    /** Handshakes are computed by the caller's thread. */
    private static PeerTls here(PeerTls tls) {
        return new PeerTls(tls.context(), tls.dials(), tls.takesPlain(), tls.verifiesCallers(), Runnable::run);
    }

    byte[] binding() {
        return tls.map(used -> used.link.binding()).orElse(ProvenHandshake.UNBOUND);
    }

    void say(Consumer<ByteBuf> payload) throws IOException {
        ByteBuf out = Unpooled.buffer().writeInt(0);
        payload.accept(out);
        out.setInt(0, out.readableBytes() - Integer.BYTES);
        if (tls.isPresent()) {
            tls.get().write(out);
        } else {
            socket.getOutputStream().write(ByteBufUtil.getBytes(out));
        }
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
        try (socket) {
            tls.ifPresent(Tls::end);
        }
    }

    /** Something answers there, and does not speak TLS, or not with this end. */
    static class TlsRefusedException extends IOException {
        private static final long serialVersionUID = 1;

        TlsRefusedException(String message) {
            super(message);
        }
    }

    /** The other end has closed the connection without a word. */
    private static final class HandshakeClosedException extends TlsRefusedException {
        private static final long serialVersionUID = 1;

        HandshakeClosedException(String message) {
            super(message);
        }
    }

    /** The same handler of TLS as on links, between a socket that blocks and its user. */
    private static final class Tls extends InputStream {
        private final Socket socket;
        private final LinkTls link;
        private final EmbeddedChannel channel;
        private final byte[] received = new byte[16 * 1024];
        private @Nullable ByteBuf plain;

        Tls(Socket socket, LinkTls link) {
            this.socket = socket;
            this.link = link;
            this.channel = new EmbeddedChannel(link.handler());
        }

        void shakeHands() throws IOException {
            send();
            while (!link.handler().handshakeFuture().isDone()) {
                receive();
            }
            Throwable failure = link.handler().handshakeFuture().cause();
            if (failure != null) {
                throw new TlsRefusedException(link.explain(failure));
            }
        }

        void write(ByteBuf out) throws IOException {
            channel.writeOutbound(out);
            send();
        }

        private void send() throws IOException {
            for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
                out.readBytes(socket.getOutputStream(), out.readableBytes());
                out.release();
            }
        }

        /** Takes what comes, and answers if the handshake needs that. */
        private void receive() throws IOException {
            int length = socket.getInputStream().read(received);
            if (length < 0) {
                String reason = link.explain(new EOFException("the other end has closed the connection"));
                throw link.handler().handshakeFuture().isSuccess()
                        ? new TlsRefusedException(reason)
                        : new HandshakeClosedException(reason);
            }
            try {
                channel.writeInbound(Unpooled.copiedBuffer(received, 0, length));
            } catch (Exception e) { // what a handler has met is thrown as it is
                throw new TlsRefusedException(link.explain(e));
            } finally {
                send();
            }
        }

        void end() {
            if (plain != null) {
                plain.release();
                plain = null;
            }
            try {
                channel.finishAndReleaseAll();
            } catch (RuntimeException e) {
                // it was told when it happened
            }
        }

        @Override
        public int read() throws IOException {
            return next().readByte() & 0xff;
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            ByteBuf some = next();
            int count = Math.min(length, some.readableBytes());
            some.readBytes(to, offset, count);
            return count;
        }

        /** What has come and was not read, a byte at least. */
        private ByteBuf next() throws IOException {
            ByteBuf some = plain;
            while (some == null || !some.isReadable()) {
                if (some != null) {
                    some.release();
                }
                some = channel.readInbound();
                plain = some;
                if (some == null) {
                    receive();
                }
            }
            return some;
        }
    }
}
