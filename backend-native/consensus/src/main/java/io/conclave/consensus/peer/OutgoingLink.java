package io.conclave.consensus.peer;

import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.core.PeerMessage;
import io.netty.buffer.ByteBuf;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The link on which messages go to one member; dialled again whenever it breaks. Belongs to the network's thread. */
final class OutgoingLink {
    private static final Logger log = LoggerFactory.getLogger(OutgoingLink.class);

    private final PeerNetwork network;
    private final PeerOptions options;
    private final int to;
    private final InetSocketAddress address;
    private LinkState state = LinkState.WAITING;

    /** Tells the current attempt's events from those of one that was given up. */
    private long attempt;

    private @Nullable FrameChannel frames;
    private @Nullable PeerFacts facts;

    /** The handshake of the current attempt, if this member proves that it has the cluster's secret. */
    private @Nullable CallersProof proof;

    /** Where proofs are optional: whether the next attempt goes without, since the other one knows none. */
    private boolean unproven;

    private int pauseMs;
    private int ticksInState;

    /** The host name is being looked up. */
    private boolean lookingUp;

    /** What was last logged about why there is no link; each reason is told once, not at every attempt. */
    private String complaint = "";

    OutgoingLink(PeerNetwork network, PeerOptions options, int to, InetSocketAddress address) {
        this.network = network;
        this.options = options;
        this.to = to;
        this.address = address;
    }

    InetSocketAddress address() {
        return address;
    }

    /** As in the configuration, where it is one of that. */
    private String hostAndPort() {
        return NetUtil.toSocketAddressString(address);
    }

    long attempts() {
        return attempt;
    }

    boolean isUp() {
        return state == LinkState.UP;
    }

    // ---- sending

    /** Whether the message is on its way; false drops it. */
    boolean send(PeerMessage message) {
        FrameChannel out = frames;
        if (state != LinkState.UP || out == null || out.isClosed()) {
            return false;
        }
        long roomBytes = MessageCodec.roomFor(message);
        if (roomBytes > options.maxFrameBytes()) {
            throw new IllegalArgumentException("a message of " + roomBytes + " bytes is longer than maxFrameBytes "
                    + options.maxFrameBytes() + ": " + message.getClass().getSimpleName());
        }
        if (out.backlogBytes() + roomBytes > options.maxBacklogBytes()) {
            out.close("it does not read: more than maxBacklogBytes " + options.maxBacklogBytes() + " wait for it");
            return false;
        }
        out.write(message, (int) roomBytes);
        return !out.isClosed();
    }

    void flush() {
        FrameChannel out = frames;
        if (out != null) {
            out.flush();
        }
    }

    // ---- dialling

    /** Begins an attempt now if the link waits for the next one. */
    void dial() {
        if (state != LinkState.WAITING) {
            return;
        }
        enter(LinkState.DIALLING);
        long current = ++attempt;
        if (!address.isUnresolved()) {
            connect(current, address);
            return;
        }
        InetAddress literal = NetUtil.createInetAddressFromIpAddressString(address.getHostString());
        if (literal != null) {
            connect(current, new InetSocketAddress(literal, address.getPort()));
            return;
        }
        if (!lookingUp) {
            lookUp();
        }
    }

    /** One at a time: a look-up may take longer than several attempts, and its outcome is for the one of then. */
    private void lookUp() {
        lookingUp = true;
        try {
            options.background().execute(() -> {
                InetSocketAddress found = new InetSocketAddress(address.getHostString(), address.getPort());
                network.execute(() -> {
                    lookingUp = false;
                    connect(attempt, found);
                });
            });
        } catch (RejectedExecutionException e) {
            lookingUp = false;
            failed(attempt, "its host name cannot be looked up: " + e.getMessage());
        }
    }

    private void connect(long current, InetSocketAddress found) {
        if (current != attempt || state != LinkState.DIALLING) {
            return;
        }
        if (found.isUnresolved()) {
            failed(current, "its host name is unknown");
            return;
        }
        FrameChannel made = new FrameChannel(new Attempt(current), options.maxFrameBytes());
        frames = made;
        network.connect(to, found, made, cause -> failed(current, String.valueOf(cause.getMessage())));
    }

    /** One connection to the member. */
    private final class Attempt implements FrameChannel.Owner {
        private final long number;

        Attempt(long number) {
            this.number = number;
        }

        @Override
        public void opened() {
            FrameChannel out = frames;
            if (number != attempt || out == null) {
                return;
            }
            enter(LinkState.GREETING);
            greet(out);
        }

        @Override
        public void arrived(ByteBuf frame) {
            if (number != attempt) {
                return;
            }
            if (state != LinkState.GREETING) {
                throw new MalformedMessageException("a message on a link that is for the other direction");
            }
            greeted(frame);
        }

        @Override
        public void lackedMemory() {
            network.lackedMemory();
        }

        @Override
        public void ended(String reason) {
            failed(number, reason);
        }
    }

    // ---- the handshake

    private void greet(FrameChannel out) {
        PeerSecrets secrets = options.secrets();
        PeerAuthentication authentication = secrets.authentication();
        if (authentication == PeerAuthentication.NONE || (authentication == PeerAuthentication.OPTIONAL && unproven)) {
            proof = null;
            PeerHandshake.Hello hello = new PeerHandshake.Hello(to, network.self());
            out.write(bytes -> PeerHandshake.writeHello(bytes, hello), PeerHandshake.MAX_FRAME_BYTES);
        } else {
            CallersProof begun = new CallersProof(secrets, to, network.self().memberId(), network.newNonce());
            proof = begun;
            out.write(begun::writeHello, PeerHandshake.MAX_FRAME_BYTES);
        }
        out.flush();
    }

    private void greeted(ByteBuf frame) {
        CallersProof begun = proof;
        int version = PeerHandshake.readVersion(frame);
        PeerHandshake.Reply reply = PeerHandshake.readReply(frame);
        if (!reply.accepted()) {
            // one that asks for no proof refuses in the version without, and one that requires it in the other
            unproven = begun != null && version == PeerHandshake.PLAIN;
            failed(attempt, "refused: " + reply.reason());
            return;
        }
        if (version != (begun == null ? PeerHandshake.PLAIN : PeerHandshake.PROVEN)) {
            failed(attempt, "it accepted, in version " + version + " of the protocol, which was not asked for");
            return;
        }
        if (begun == null) {
            up(PeerHandshake.readFacts(frame));
        } else if (!begun.isAnswered()) {
            answer(begun, frame);
        } else {
            begun.verify(frame)
                    .ifPresentOrElse(this::up, () -> failed(attempt, "its last proof is wrong, so it is not believed"));
        }
    }

    private void answer(CallersProof begun, ByteBuf challenge) {
        FrameChannel out = frames;
        if (out == null) {
            return;
        }
        if (!begun.knows(challenge, out.binding())) {
            failed(
                    attempt,
                    "it has not proven that it has the cluster secret of this member; compare their secret files");
        } else {
            out.write(bytes -> begun.writeAnswer(bytes, network.self()), PeerHandshake.MAX_FRAME_BYTES);
            out.flush();
        }
    }

    private void up(PeerFacts answered) {
        Optional<String> refusal =
                PeerHandshake.refusal(network.self(), to, answered).or(() -> network.refusalForLevel(answered));
        if (refusal.isPresent()) {
            failed(attempt, refusal.get());
            return;
        }
        facts = answered;
        complaint = "";
        enter(LinkState.UP);
        if (frames != null) {
            frames.greeted();
        }
        boolean secure = frames != null && frames.tls().isPresent();
        log.info(
                "member {} is linked at {}{}{}",
                to,
                hostAndPort(),
                secure ? ", with TLS" : "",
                proof == null ? ", unproven" : "");
        network.linked(to, answered);
    }

    /** The attempt, or the link that came of it, is over; the next follows after a pause. */
    private void failed(long number, String reason) {
        if (number != attempt || state == LinkState.WAITING || state == LinkState.CLOSED) {
            return;
        }
        boolean wasUp = state == LinkState.UP;
        attempt++;
        FrameChannel out = frames;
        frames = null;
        facts = null;
        proof = null;
        if (out != null) {
            out.close(reason);
        }
        if (!reason.equals(complaint)) {
            complaint = reason;
            log.warn("{} member {} at {}: {}", wasUp ? "lost the link to" : "no link to", to, hostAndPort(), reason);
        }
        enter(LinkState.WAITING);
        dialLater();
        if (wasUp) {
            network.linkDown(to);
        }
    }

    private void dialLater() {
        pauseMs = Math.min(options.redialMaxMs(), Math.max(options.redialMinMs(), 2 * pauseMs));
        long current = attempt;
        long jitteredMs = ThreadLocalRandom.current().nextLong(pauseMs / 2, pauseMs + 1L);
        network.schedule(jitteredMs, () -> {
            if (current == attempt) {
                dial();
            }
        });
    }

    // ---- life

    /** Half an election timeout has passed. */
    void tick() {
        ticksInState++;
        if (state == LinkState.UP && ticksInState > 1) {
            pauseMs = 0;
        }
        if (state == LinkState.DIALLING && ticksInState > FrameChannel.SILENT_TICKS) {
            failed(attempt, "no connection in three election timeouts");
            return;
        }
        if (state == LinkState.GREETING && ticksInState > FrameChannel.SILENT_TICKS) {
            failed(attempt, "its handshake was not complete after three election timeouts");
            return;
        }
        FrameChannel out = frames;
        if (out != null && state != LinkState.DIALLING) {
            out.tick();
        }
    }

    /** What the member said when this link was made, while it is up. */
    Optional<PeerFacts> facts() {
        return Optional.ofNullable(facts);
    }

    /** Ends the link that is up; it is dialled again. */
    void refuse(String reason) {
        failed(attempt, reason);
    }

    /** This member says something else about itself now: those not known to be of its cluster are asked again. */
    void identified(PeerFacts self) {
        PeerFacts other = facts;
        FrameChannel out = frames;
        if (other != null && out != null && !self.clusterId().equals(other.clusterId())) {
            out.close("it was of cluster " + other.clusterId() + ", this member is of " + self.clusterId() + " now");
        }
    }

    /** Ends it for good; {@link PeerNetwork#linkDown} follows at once if it was up. */
    void close(String reason) {
        if (state == LinkState.CLOSED) {
            return;
        }
        boolean wasUp = state == LinkState.UP;
        attempt++;
        enter(LinkState.CLOSED);
        FrameChannel out = frames;
        frames = null;
        if (out != null) {
            out.close(reason);
        }
        if (wasUp) {
            network.linkDown(to);
        }
    }

    private void enter(LinkState next) {
        if (!next.mayFollow(state)) {
            throw new IllegalStateException("link to member " + to + " from " + state + " to " + next);
        }
        state = next;
        ticksInState = 0;
    }
}
