package io.conclave.consensus.peer;

import io.conclave.consensus.entry.EnsembleMember;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks a running member, by a handshake and nothing else, to which cluster it belongs. */
public final class ClusterProbe {
    private static final Logger log = LoggerFactory.getLogger(ClusterProbe.class);
    private static final int TIMEOUT_MS = 2_000;

    private ClusterProbe() {}

    /** The cluster of the member; empty if it has none, or does not answer. Blocks for some seconds at most. */
    public static Optional<UUID> clusterOf(int self, EnsembleMember member) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(member.host(), member.peerPort()), TIMEOUT_MS);
            socket.setSoTimeout(TIMEOUT_MS);
            PeerFacts facts = new PeerFacts(PeerFacts.NO_CLUSTER, self, 0, 0, "", 0, false);
            ByteBuf out = Unpooled.buffer().writeInt(0);
            PeerHandshake.writeHello(out, new PeerHandshake.Hello(member.id(), facts));
            out.setInt(0, out.readableBytes() - Integer.BYTES);
            socket.getOutputStream().write(ByteBufUtil.getBytes(out));
            ByteBuf reply = Unpooled.wrappedBuffer(readFrame(new DataInputStream(socket.getInputStream())));
            PeerHandshake.readVersion(reply);
            PeerHandshake.readReply(reply);
            PeerFacts called = PeerHandshake.readFacts(reply);
            return called.hasCluster() ? Optional.of(called.clusterId()) : Optional.empty();
        } catch (IOException | RuntimeException e) {
            log.info("server {} does not say to which cluster it belongs: {}", member.id(), e.toString());
            return Optional.empty();
        }
    }

    /** The first that is no keepalive. */
    private static byte[] readFrame(DataInputStream in) throws IOException {
        int length = in.readInt();
        while (length == 0) {
            length = in.readInt();
        }
        if (length < 0 || length > PeerHandshake.MAX_FRAME_BYTES) {
            throw new IOException("a frame of " + length + " bytes came in place of a handshake");
        }
        byte[] frame = new byte[length];
        in.readFully(frame);
        return frame;
    }
}
