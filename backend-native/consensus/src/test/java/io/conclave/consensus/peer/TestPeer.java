package io.conclave.consensus.peer;

import static org.awaitility.Awaitility.await;

import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.entry.EnsembleMember;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** A member's network with a listener that writes down what it is told, in words, with messages as they are. */
final class TestPeer implements PeerListener, AutoCloseable {
    static final UUID CLUSTER = new UUID(7, 7);
    private static final ScheduledExecutorService TIMER = Executors.newSingleThreadScheduledExecutor(TestPeer::daemon);
    private static final ExecutorService BACKGROUND = Executors.newCachedThreadPool(TestPeer::daemon);

    final PeerNetwork network;
    private final List<Object> events = new ArrayList<>();
    volatile int featureLevel;

    private TestPeer(PeerNetwork network) {
        this.network = network;
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "test-peer");
        thread.setDaemon(true);
        return thread;
    }

    static PeerOptions.Builder options(int port) {
        return options(port, BACKGROUND);
    }

    /** With so long an election timeout that no link is given up because the machine is busy. */
    static PeerOptions.Builder options(int port, Executor lookUps) {
        return PeerOptions.builder(
                        new InetSocketAddress("127.0.0.1", port),
                        (delayMs, action) -> {
                            var unused = TIMER.schedule(action, delayMs, TimeUnit.MILLISECONDS);
                        },
                        lookUps)
                .electionTimeoutMs(5_000);
    }

    static PeerFacts facts(int id) {
        return new PeerFacts(CLUSTER, id, 1000 + id, 1, "", 2180 + id, false);
    }

    static TestPeer open(PeerFacts facts, int port, UnaryOperator<PeerOptions.Builder> with) {
        TestPeer peer =
                new TestPeer(PeerNetwork.create(with.apply(options(port)).build()));
        peer.network.open(facts, peer);
        return peer;
    }

    /** Not open yet. */
    static TestPeer create(UnaryOperator<PeerOptions.Builder> with) {
        return new TestPeer(PeerNetwork.create(with.apply(options(0)).build()));
    }

    EnsembleMember member(int id) {
        return member(id, network.port());
    }

    static EnsembleMember member(int id, int port) {
        return new EnsembleMember(id, 0, "127.0.0.1", port, "", 0, false);
    }

    void dials(int id, TestPeer other) {
        network.members(Map.of(id, other.member(id)));
    }

    /** On the network's thread. */
    <T> T call(Supplier<T> action) {
        return CompletableFuture.supplyAsync(action, network::execute)
                .orTimeout(120, TimeUnit.SECONDS)
                .join();
    }

    /** Half an election timeout has passed, whatever the clock says. */
    void tick() {
        call(() -> {
            network.tick();
            return true;
        });
    }

    boolean send(int to, PeerMessage... messages) {
        return call(() -> {
            boolean sent = true;
            for (PeerMessage message : messages) {
                sent &= network.send(to, message);
            }
            network.flush();
            return sent;
        });
    }

    synchronized List<Object> events() {
        return List.copyOf(events);
    }

    synchronized void forget() {
        events.clear();
    }

    List<PeerMessage> messages() {
        return events().stream()
                .filter(PeerMessage.class::isInstance)
                .map(PeerMessage.class::cast)
                .toList();
    }

    long count(Object event) {
        return events().stream().filter(event::equals).count();
    }

    void awaitEvent(Object event) {
        await().pollInterval(Duration.ofMillis(2)).until(() -> events().contains(event));
    }

    void awaitMessages(int count) {
        await().pollInterval(Duration.ofMillis(2)).until(() -> messages().size() >= count);
    }

    private synchronized void note(Object event) {
        events.add(event);
    }

    @Override
    public int featureLevel() {
        return featureLevel;
    }

    @Override
    public void linked(int to, PeerFacts facts) {
        note("linked " + to);
        note(facts);
    }

    @Override
    public void linkDown(int to) {
        note("down " + to);
    }

    @Override
    public void arrived(int from, long directory, PeerMessage message) {
        note(message);
    }

    @Override
    public void inboundLost(int from) {
        note("lost " + from);
    }

    @Override
    public void turnEnd() {
        note("turn");
    }

    @Override
    public void close() {
        network.close();
    }
}
