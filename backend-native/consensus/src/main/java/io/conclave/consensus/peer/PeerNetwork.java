package io.conclave.consensus.peer;

import io.conclave.consensus.JoinTokens;
import io.conclave.consensus.LogException;
import io.conclave.consensus.PeerCounts;
import io.conclave.consensus.PeerTls;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.entry.EnsembleMember;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The links of one member to all others, and the one thread that they and their users run on.
 *
 * <p>Each member dials every other one, and sends on the connection that it has dialled only; so there are two between
 * any two members. A connection that breaks is dialled again; what it had not delivered is lost, and nothing is ever
 * sent twice. Order is kept: of what a member sends, another one gets a prefix for each connection.
 *
 * <p>{@link #execute}, {@link #schedule}, {@link #members}, {@link #identify} and {@link #close} may be called from any
 * thread, the rest from the network's own only, unless it says otherwise.
 */
public final class PeerNetwork implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(PeerNetwork.class);

    /** At once; each takes a thread for a moment. */
    private static final int MOST_JOBS_OF_STRANGERS = 16;

    private final PeerOptions options;
    private final PeerTransport transport;
    private final EventLoop loop;
    private final AtomicBoolean opened = new AtomicBoolean();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final SecureRandom random = new SecureRandom();
    private final InboundLinks inbound = new InboundLinks();
    private final AtomicLong lackedMemory = new AtomicLong();
    private volatile @Nullable Channel listening;

    // ---- the network's thread only

    private final Map<Integer, OutgoingLink> outgoing = new HashMap<>();
    private Map<Integer, EnsembleMember> members = Map.of();
    private @Nullable PeerFacts self;
    private @Nullable PeerListener listener;
    private int strangersJobs;
    private boolean turnEnds;
    private boolean over;

    private PeerNetwork(PeerOptions options) {
        this.options = options;
        this.transport = new PeerTransport(options);
        this.loop = transport.loop();
    }

    /** A network that has its thread, but no links before it is opened. */
    public static PeerNetwork create(PeerOptions options) {
        return new PeerNetwork(options);
    }

    /**
     * Listens, and begins to dial those named by {@link #members}. Blocks until it listens; not to be called on the
     * network's thread.
     *
     * @throws LogException if the address is taken or not ours
     * @throws IllegalStateException if it was opened before, or on the network's thread
     */
    public void open(PeerFacts facts, PeerListener to) {
        if (inThread()) {
            throw new IllegalStateException("open() must not be called on the network's own thread");
        }
        if (!opened.compareAndSet(false, true)) {
            throw new IllegalStateException("the network was opened before");
        }
        loop.submit(() -> {
                    self = self == null ? facts : self;
                    listener = to;
                })
                .awaitUninterruptibly();
        listening = transport.listen(options.listen(), new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                InboundLink link = new InboundLink(
                        PeerNetwork.this, options.secrets(), hostOf(channel.remoteAddress()), options.maxFrameBytes());
                channel.pipeline().addLast(new InboundTls(options.tls(), link), link.frames());
            }
        });
        execute(() -> {
            follow();
            scheduleTick();
        });
    }

    private static String hostOf(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress socket ? socket.getHostString() : String.valueOf(address);
    }

    /** The port on which it listens; any thread. */
    public int port() {
        Channel channel = listening;
        if (channel == null || !(channel.localAddress() instanceof InetSocketAddress address)) {
            throw new IllegalStateException("the network does not listen");
        }
        return address.getPort();
    }

    // ---- the thread

    /**
     * Runs the action on the network's thread, after what was given before; dropped if the network is closed. Any
     * thread.
     */
    public void execute(Runnable action) {
        try {
            loop.execute(action);
        } catch (RejectedExecutionException e) {
            log.debug("dropped, for the network is closed: {}", action);
        }
    }

    /** Runs the action on the network's thread, about so many ms from now. Any thread. */
    public void schedule(long delayMs, Runnable action) {
        options.delayed().runAfter(delayMs, () -> execute(action));
    }

    /**
     * As {@link #schedule}, by the thread's own timer: no other thread has to wake up for it. On the network's thread.
     */
    public void scheduleHere(long delayMs, Runnable action) {
        requireThread();
        if (!loop.isShuttingDown()) {
            loop.schedule(action, delayMs, TimeUnit.MILLISECONDS);
        }
    }

    /** Whether the caller is on the network's thread. */
    public boolean inThread() {
        return loop.inEventLoop();
    }

    // ---- members to be linked

    /** The members to be linked, by id; this member itself may be among them. Any thread. */
    public void members(Map<Integer, EnsembleMember> wanted) {
        Map<Integer, EnsembleMember> copy = Map.copyOf(wanted);
        // Later even on the thread itself, so that a caller in the middle of a turn is not told of links that end by
        // this.
        execute(() -> {
            members = copy;
            if (self != null) {
                follow();
            }
        });
    }

    /**
     * Changes what is told to others. Links from members that were told something else are made anew, so that they are
     * told; and if it is another cluster, links to members that were not known to belong to it, so that no two of
     * different clusters stay linked. Wins over the facts given to {@link #open} if it comes first. Any thread.
     */
    public void identify(PeerFacts facts) {
        if (!inThread()) {
            execute(() -> identify(facts));
            return;
        }
        self = facts;
        List.copyOf(outgoing.values()).forEach(link -> link.identified(facts));
        inbound.all().forEach(link -> link.identified(facts));
    }

    /** Makes the links those of the members. */
    private void follow() {
        if (over) {
            return;
        }
        Map<Integer, InetSocketAddress> wanted = new HashMap<>();
        members.forEach((id, member) -> {
            if (id != self().memberId()) {
                wanted.put(id, addressOf(member));
            }
        });
        for (Map.Entry<Integer, OutgoingLink> entry : List.copyOf(outgoing.entrySet())) {
            if (!entry.getValue().address().equals(wanted.get(entry.getKey()))) {
                outgoing.remove(entry.getKey());
                entry.getValue().close("the members have changed");
            }
        }
        wanted.forEach((id, address) -> outgoing.computeIfAbsent(id, to -> new OutgoingLink(this, options, to, address))
                .dial());
    }

    private InetSocketAddress addressOf(EnsembleMember member) {
        InetSocketAddress instead = options.dialInstead().get(member.id());
        return instead != null ? instead : InetSocketAddress.createUnresolved(member.host(), member.peerPort());
    }

    PeerFacts self() {
        PeerFacts facts = self;
        if (facts == null) {
            throw new IllegalStateException("the network is not open");
        }
        return facts;
    }

    // ---- sending

    /**
     * Puts the message on the link to the member; {@link #flush} sends it. The message must not change any more.
     *
     * @return false if it was dropped, since there is no link
     * @throws IllegalArgumentException if it is longer than {@code maxFrameBytes}
     */
    public boolean send(int to, PeerMessage message) {
        requireThread();
        OutgoingLink link = outgoing.get(to);
        return link != null && link.send(message);
    }

    /** Sends what was put on all links. */
    public void flush() {
        requireThread();
        for (OutgoingLink link : outgoing.values()) {
            link.flush();
        }
    }

    /** Ends the link from the member, if there is one; it may make a new one. */
    public void disconnect(int from, String reason) {
        requireThread();
        inbound.of(from).ifPresent(link -> link.frames().close(reason));
    }

    /** What came to the port, and links that there was no memory for; any thread. */
    public PeerCounts counts() {
        return new PeerCounts(
                inbound.strangerCount(), inbound.refusedCount(), inbound.gaveWayCount(), lackedMemory.get());
    }

    /** Whether there is a link to the member. */
    public boolean isLinked(int to) {
        requireThread();
        OutgoingLink link = outgoing.get(to);
        return link != null && link.isUp();
    }

    /** How often the member was dialled, or an attempt failed. */
    long attempts(int to) {
        OutgoingLink link = outgoing.get(to);
        return link == null ? 0 : link.attempts();
    }

    private void requireThread() {
        if (!inThread()) {
            throw new IllegalStateException("only the network's own thread may do this, not "
                    + Thread.currentThread().getName());
        }
    }

    // ---- what links say

    void connect(int to, InetSocketAddress address, FrameChannel frames, Consumer<Throwable> failed) {
        ChannelInitializer<Channel> handlers = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                if (tls().dials()) {
                    LinkTls used = LinkTls.calling(tls(), hostOf(to), address.getPort());
                    frames.speaks(used);
                    channel.pipeline().addLast(used.handler());
                }
                channel.pipeline().addLast(frames);
            }
        };
        transport.connect(address, handlers).addListener(done -> {
            Throwable cause = done.cause();
            if (cause != null) {
                failed.accept(cause);
            }
        });
    }

    void linked(int to, PeerFacts facts) {
        tell(target -> target.linked(to, facts));
    }

    void linkDown(int to) {
        tell(target -> target.linkDown(to));
    }

    void arrived(PeerFacts from, PeerMessage message) {
        tell(target -> target.arrived(from.memberId(), from.directory(), message));
    }

    byte[] newNonce() {
        byte[] nonce = new byte[ProvenHandshake.NONCE_BYTES];
        random.nextBytes(nonce);
        return nonce;
    }

    PeerTls tls() {
        return options.tls();
    }

    /** The name or address of a member as it is listed; empty if it is not. */
    String hostOf(int member) {
        EnsembleMember listed = members.get(member);
        return listed == null ? "" : listed.host();
    }

    JoinTokens joinTokens() {
        return options.joinTokens();
    }

    /** Runs the job of a stranger on another thread; whether there is room for it. {@link #backgroundDone} follows. */
    boolean inBackground(Runnable job) {
        if (strangersJobs >= MOST_JOBS_OF_STRANGERS) {
            return false;
        }
        try {
            options.background().execute(job);
            strangersJobs++;
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    void backgroundDone() {
        strangersJobs--;
    }

    void lackedMemory() {
        lackedMemory.incrementAndGet();
    }

    void opened(InboundLink link) {
        if (over) {
            link.frames().close("the network is closed");
            return;
        }
        inbound.opened(link);
    }

    /**
     * Why there can be no link with a member of earlier software: it would apply what it does not understand. Empty if
     * there can.
     */
    Optional<String> refusalForLevel(PeerFacts other) {
        PeerListener asked = listener;
        int inForce = asked == null ? 0 : asked.featureLevel();
        return other.featureLevel() >= inForce
                ? Optional.empty()
                : Optional.of("feature level " + inForce + " is in force, and member " + other.memberId()
                        + " understands " + other.featureLevel() + " at most; it needs newer software");
    }

    Optional<String> refusalForOlder(InboundLink newer, PeerFacts from) {
        return inbound.refusalForOlder(newer, from);
    }

    void accepted(InboundLink link, int from) {
        if (inbound.accepted(link, from)) {
            tell(target -> target.inboundLost(from));
        }
        OutgoingLink back = outgoing.get(from);
        if (back != null) {
            back.dial();
        }
    }

    void refused(InboundLink link, String reason) {
        inbound.refused(link, reason);
    }

    void ended(InboundLink link, String reason) {
        inbound.ended(link, reason).ifPresent(from -> tell(target -> target.inboundLost(from)));
    }

    private void tell(Consumer<PeerListener> what) {
        PeerListener target = listener;
        if (over || target == null) {
            return;
        }
        if (!turnEnds) {
            turnEnds = true;
            // Tasks run when all sockets that had something have been read: one turn for all of it.
            execute(() -> {
                turnEnds = false;
                tell(target, PeerListener::turnEnd);
            });
        }
        tell(target, what);
    }

    private void tell(PeerListener target, Consumer<PeerListener> what) {
        if (over) {
            return;
        }
        try {
            what.accept(target);
        } catch (RuntimeException | Error e) {
            log.error("the listener of the network threw", e);
        }
    }

    // ---- life

    private void scheduleTick() {
        if (!over) {
            scheduleHere(options.electionTimeoutMs() / 2, this::tick);
        }
    }

    /** Half an election timeout has passed. On the network's thread. */
    void tick() {
        inbound.tick();
        for (OutgoingLink link : List.copyOf(outgoing.values())) {
            link.facts().flatMap(this::refusalForLevel).ifPresent(link::refuse);
        }
        for (InboundLink link : inbound.ofMembers()) {
            link.facts().flatMap(this::refusalForLevel).ifPresent(link.frames()::close);
        }
        List.copyOf(outgoing.values()).forEach(OutgoingLink::tick);
        inbound.all().forEach(InboundLink::tick);
        scheduleTick();
    }

    /**
     * Ends all links and the thread; nothing is called back any more. Blocks for some seconds at most; not to be called
     * on the network's thread.
     */
    @Override
    public void close() {
        if (inThread()) {
            throw new IllegalStateException("close() must not be called on the network's own thread");
        }
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        execute(this::end);
        transport.close();
    }

    private void end() {
        over = true;
        Channel channel = listening;
        if (channel != null) {
            channel.close();
        }
        new ArrayList<>(outgoing.values()).forEach(link -> link.close("the network is closed"));
        inbound.all().forEach(link -> link.frames().close("the network is closed"));
        outgoing.clear();
    }
}
