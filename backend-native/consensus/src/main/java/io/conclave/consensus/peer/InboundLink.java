package io.conclave.consensus.peer;

import io.netty.buffer.ByteBuf;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A connection made to this member; one of a member once it has said so. Belongs to the network's thread. */
final class InboundLink implements FrameChannel.Owner {
    private final PeerNetwork network;
    private final String remoteHost;
    private final FrameChannel frames;

    /** The member at the other end; null until it is accepted. */
    private @Nullable PeerFacts facts;

    /** What it was told; null until it is accepted. */
    private @Nullable PeerFacts said;

    private boolean refused;

    InboundLink(PeerNetwork network, String remoteHost, int maxFrameBytes) {
        this.network = network;
        this.remoteHost = remoteHost;
        this.frames = new FrameChannel(this, maxFrameBytes);
    }

    FrameChannel frames() {
        return frames;
    }

    String remoteHost() {
        return remoteHost;
    }

    Optional<PeerFacts> facts() {
        return Optional.ofNullable(facts);
    }

    boolean isRefused() {
        return refused;
    }

    @Override
    public void opened() {
        network.opened(this);
    }

    @Override
    public void arrived(ByteBuf frame) {
        PeerFacts from = facts;
        if (from == null) {
            greet(frame);
        } else {
            network.arrived(from, MessageCodec.read(frame));
        }
    }

    private void greet(ByteBuf frame) {
        PeerFacts self = network.self();
        int version = PeerHandshake.readVersion(frame);
        if (version != PeerHandshake.VERSION) {
            refuse(self, PeerHandshake.otherVersion(self, version));
            return;
        }
        PeerHandshake.Hello hello = PeerHandshake.readHello(frame);
        Optional<String> refusal = PeerHandshake.refusal(self, hello);
        if (refusal.isPresent()) {
            refuse(self, refusal.get());
            return;
        }
        facts = hello.facts();
        said = self;
        reply(self, new PeerHandshake.Reply(true, ""));
        frames.greeted();
        network.accepted(this, hello.facts().memberId());
    }

    private void refuse(PeerFacts self, String reason) {
        refused = true;
        reply(self, new PeerHandshake.Reply(false, reason));
        network.refused(this, reason);
        frames.close(reason);
    }

    private void reply(PeerFacts self, PeerHandshake.Reply reply) {
        frames.write(bytes -> PeerHandshake.writeReply(bytes, reply, self), PeerHandshake.MAX_FRAME_BYTES);
        frames.flush();
    }

    /** This member says something else about itself now: a member that was told otherwise has to come again. */
    void identified(PeerFacts self) {
        PeerFacts old = said;
        if (old != null && !old.equals(self)) {
            frames.close("this member has told something else about itself than it would now: " + self);
        }
    }

    @Override
    public void ended(String reason) {
        network.ended(this, reason);
    }
}
