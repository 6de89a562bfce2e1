package io.conclave.consensus.ensemble;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.PeerCounts;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.member.MemberLoop;
import io.conclave.consensus.member.PeerLinks;
import io.conclave.consensus.peer.PeerFacts;
import io.conclave.consensus.peer.PeerListener;
import io.conclave.consensus.peer.PeerNetwork;
import io.conclave.consensus.peer.PeerOptions;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The thread of a member of an ensemble is that of its network: links, core, log and apply share it. */
final class PeerThread implements MemberThread, PeerLinks, PeerListener {
    private final LogOptions options;
    private final PeerNetwork network;
    private final EnsembleMember listed;
    private final AtomicBoolean woken = new AtomicBoolean();
    private volatile @Nullable MemberLoop member;
    private volatile PeerFacts facts;
    private volatile boolean opening;

    // ---- the network's thread only

    /** The members to be linked, and those that have left and are still told so. */
    private Map<Integer, EnsembleMember> linked = Map.of();

    private long configurations;
    private boolean timed;
    private long timedForMs = Long.MAX_VALUE;

    PeerThread(LogOptions options) {
        this.options = options;
        this.listed = Objects.requireNonNull(options.members().get(options.memberId()));
        this.facts = factsOf(PeerFacts.NO_CLUSTER, 0);
        this.network = PeerNetwork.create(networkOptions());
    }

    private PeerOptions networkOptions() {
        long frame = PeerOptions.frameBytesFor(2L * options.maxBatchBytes(), options.maxQueuedEntries());
        int frameBytes = (int) Math.max(16 << 20, Math.min(frame, 256 << 20));
        return PeerOptions.builder(listenAddress(), options.delayed(), options.lookups())
                .threadFactory(options.threadFactory())
                .secrets(options.peerSecrets())
                .joinTokens(options.joinTokens())
                .tls(options.peerTls())
                .electionTimeoutMs((int) options.electionTimeoutMs())
                .maxFrameBytes(frameBytes)
                .maxBacklogBytes(Math.max(64 << 20, 2 * frameBytes))
                .dialInstead(options.dialInstead())
                .build();
    }

    private InetSocketAddress listenAddress() {
        return options.peerListen().orElseGet(() -> new InetSocketAddress(listed.host(), listed.peerPort()));
    }

    private PeerFacts factsOf(UUID clusterId, long directory) {
        return new PeerFacts(
                clusterId,
                options.memberId(),
                directory,
                options.featureLevel(),
                listed.clientHost(),
                listed.clientPort(),
                listed.observer());
    }

    // ---- MemberThread

    @Override
    public PeerLinks links() {
        return this;
    }

    @Override
    public void execute(Runnable action) {
        network.execute(action);
    }

    @Override
    public void begin(MemberLoop newMember, Runnable first) {
        member = newMember;
        network.members(options.members());
        network.execute(() -> {
            first.run();
            turn();
        });
    }

    @Override
    public void open() {
        opening = true;
        network.open(facts, this);
    }

    @Override
    public void wake() {
        if (!woken.get() && woken.compareAndSet(false, true)) {
            network.execute(this::turn);
        }
    }

    private void turn() {
        MemberLoop driven = member;
        if (driven == null) {
            return;
        }
        woken.set(false);
        boolean worked = driven.turn();
        if (driven.hasEnded()) {
            return;
        }
        if (worked && driven.hasMore()) {
            // behind what has arrived meanwhile
            wake();
        } else {
            wakeForNextTurn(driven);
        }
    }

    /** One timer at a time; one that comes too early just sets the next. */
    private void wakeForNextTurn(MemberLoop driven) {
        long dueMs = driven.nextTurnMs();
        if (dueMs == Long.MAX_VALUE || (timed && timedForMs <= dueMs)) {
            return;
        }
        timed = true;
        timedForMs = dueMs;
        network.scheduleHere(Math.max(1, dueMs - options.monotonicMs().getAsLong()), () -> {
            if (timedForMs == dueMs) {
                timed = false;
                timedForMs = Long.MAX_VALUE;
            }
            turn();
        });
    }

    @Override
    public PeerCounts peerCounts() {
        return network.counts();
    }

    @Override
    public boolean isCurrent() {
        return network.inThread();
    }

    @Override
    public void close() {
        network.close();
    }

    // ---- PeerLinks

    @Override
    public void send(int to, PeerMessage message) {
        network.send(to, message);
    }

    @Override
    public void flush() {
        network.flush();
    }

    /** A member that leaves is told so by a leader for an election timeout, so its link ends later. */
    @Override
    public void configured(ClusterConfiguration configuration) {
        Map<Integer, EnsembleMember> members = new HashMap<>(options.members());
        configuration.members().forEach((id, member) -> {
            if (member.hasAddress()) {
                members.put(id, member);
            }
        });
        Map<Integer, EnsembleMember> withParting = new HashMap<>(linked);
        withParting.putAll(members);
        linked = withParting;
        network.members(withParting);
        long number = ++configurations;
        if (withParting.size() > members.size()) {
            network.schedule(2 * options.electionTimeoutMs(), () -> {
                if (number == configurations) {
                    linked = members;
                    network.members(members);
                }
            });
        }
    }

    @Override
    public void identify(UUID clusterId, long directory) {
        PeerFacts now = factsOf(clusterId, directory);
        facts = now;
        if (opening) {
            network.identify(now);
        }
    }

    @Override
    public void disconnect(int from, String reason) {
        network.disconnect(from, reason);
    }

    // ---- PeerListener

    @Override
    public void linked(int to, PeerFacts other) {
        member().linked(to, other.clusterId(), other.directory());
    }

    @Override
    public void linkDown(int to) {
        member().linkDown(to);
    }

    @Override
    public void arrived(int from, long directory, PeerMessage message) {
        member().arrived(from, directory, message);
    }

    @Override
    public void inboundLost(int from) {
        member().inboundLost(from);
    }

    @Override
    public int featureLevel() {
        MemberLoop driven = member;
        return driven == null ? 0 : driven.featureLevel();
    }

    @Override
    public void turnEnd() {
        turn();
    }

    private MemberLoop member() {
        return Objects.requireNonNull(member);
    }
}
