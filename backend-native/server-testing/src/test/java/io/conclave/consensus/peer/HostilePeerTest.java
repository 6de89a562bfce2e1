package io.conclave.consensus.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.Append;
import io.conclave.consensus.core.PeerMessage.Commit;
import io.conclave.consensus.core.PeerMessage.Greeting;
import io.conclave.consensus.core.PeerMessage.TimeoutNow;
import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.RealDisk;
import io.conclave.consensus.ensemble.OfflineLog;
import io.conclave.consensus.entry.Start;
import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.server.EnsembleTls;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Real servers, and strangers at the port of their members: all that comes of it is log lines and counters. */
@Timeout(300)
@Tag("proof")
@Isolated("floods the loopback interface")
class HostilePeerTest {
    private static final NodePath PATH = NodePath.of("/a");
    private static final long LARGEST_HONEST_TERM = 1_000_000;

    @TempDir
    private Path home;

    private ConclaveEnsemble ensemble;
    private Coordinator client;
    private int writes;

    @BeforeEach
    void start() throws Exception {
        ensemble = ConclaveEnsemble.builder().directory(home).membersTls(tls()).start();
        client = Coordinator.connect(ensemble.connectString());
        client.execute(Create.of(PATH).withData(new byte[0]));
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        ensemble.close();
    }

    /** How the members speak with each other. */
    EnsembleTls tls() {
        return EnsembleTls.NONE;
    }

    /** What the stranger's connection uses, who has everything but the secret. */
    Socket over(Socket plain) throws IOException {
        return plain;
    }

    /** With what a handshake begins that is never ended. */
    int firstByte() {
        return 0;
    }

    private RawPeer dial(int server) throws IOException {
        return new RawPeer(over(RawPeer.connect(peerPort(server))), true);
    }

    private LogStatus status(int server) {
        return ensemble.server(server).logStatus();
    }

    private int peerPort(int server) {
        return status(server).configuration().members().get(server).peerPort();
    }

    /** What a client can read, and more: the attacker knows everything but the secret. */
    private PeerFacts facts(int server, int as) {
        var known = status(server).configuration().members().get(as);
        return new PeerFacts(
                status(server).clusterId(), as, known == null ? 9 : known.directory(), Integer.MAX_VALUE, "", 0, false);
    }

    private PeerSecrets secret() throws IOException {
        List<String> lines = Files.readAllLines(home.resolve("peer.secret"));
        return PeerSecrets.of(
                PeerAuthentication.REQUIRED, List.of(Base64.getDecoder().decode(lines.get(lines.size() - 1))));
    }

    private static List<PeerMessage> attacks(LogStatus at, long directory) {
        return List.of(
                new VoteRequest(false, Long.MAX_VALUE, Long.MAX_VALUE / 2, Long.MAX_VALUE / 2, directory, true),
                new VoteRequest(false, at.term() + 1, at.lastIndex() + 100, at.term() + 1, directory, true),
                new Append(at.term() + 1, at.lastIndex(), at.term(), at.lastIndex() + 5, 1, List.of()),
                new Append(at.term(), 0, 0, Long.MAX_VALUE / 2, 1, List.of()),
                new Commit(at.term(), at.lastIndex()),
                new TimeoutNow(at.term()));
    }

    private void writeAndRead() throws InterruptedException {
        for (int i = 0; i < 5; i++) {
            byte[] data = ("write " + ++writes).getBytes(StandardCharsets.UTF_8);
            client.execute(SetData.of(PATH, data));
            assertArrayEquals(data, client.execute(GetData.of(PATH)).data());
        }
    }

    private void assertAllIsWell() throws InterruptedException {
        writeAndRead();
        for (int server : ensemble.ids()) {
            LogRole role = status(server).role();
            assertTrue(role == LogRole.LEADING || role == LogRole.FOLLOWING, "server " + server + " is " + role);
            assertTrue(status(server).term() < LARGEST_HONEST_TERM, status(server)::toString);
        }
    }

    private long counter(int server, String name) {
        int port = ensemble.server(server).clientPort().orElseThrow();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write("mntr".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> line.startsWith("zk_conclave_peer_" + name + "\t"))
                    .mapToLong(line -> Long.parseLong(line.substring(line.indexOf('\t') + 1)))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    // ---- without the secret

    @Test
    void aStrangerCannotJoinVoteAppendOrLead() throws Exception {
        for (int server : ensemble.ids()) {
            for (int as : new int[] {1, 2, 3, 9}) {
                LogStatus at = status(server);
                PeerFacts facts = facts(server, as);
                long directory = facts(server, server).directory();
                try (RawPeer plain = dial(server);
                        RawPeer guesser = dial(server);
                        RawPeer rude = dial(server)) {
                    plain.hello(server, facts);
                    guesser.frame(out ->
                            ProvenHandshake.writeHello(out, new ProvenHandshake.Hello(server, as, RawPeer.nonce())));
                    guesser.frame(out -> ProvenHandshake.writeAnswer(out, RawPeer.nonce(), facts));
                    for (PeerMessage attack : attacks(at, directory)) {
                        attempt(() -> plain.message(attack));
                        attempt(() -> guesser.message(attack));
                        attempt(() -> rude.message(attack));
                    }
                    plain.drain();
                    guesser.drain();
                    rude.drain();
                }
            }
            assertTrue(counter(server, "refused") > 0);
            assertEquals(0, counter(server, "conflicts"));
        }
        assertAllIsWell();
    }

    private interface Attempt {
        void run() throws IOException;
    }

    /** It may be cut off at any time. */
    private static void attempt(Attempt attempt) {
        try {
            attempt.run();
        } catch (IOException e) {
            // it was
        }
    }

    /** All that a member has said on a link of its own, said again by somebody who has listened. */
    @Test
    void aRecordedHandshakeIsRefused() throws Exception {
        int server = ensemble.awaitLeader();
        CallersProof proof = new CallersProof(secret(), server, 9, RawPeer.nonce());
        byte[] hello = RawPeer.frameOf(proof::writeHello);
        byte[] answer;
        try (RawPeer member = dial(server).send(hello)) {
            ByteBuf challenge = member.receive();
            PeerHandshake.readVersion(challenge);
            PeerHandshake.readReply(challenge);
            assertTrue(proof.knows(challenge, member.binding()));
            answer = RawPeer.frameOf(out -> proof.writeAnswer(out, facts(server, 9)));
            assertTrue(member.send(answer).receiveReply().accepted(), "what is recorded is a good one");
        }
        try (RawPeer replay = dial(server).send(hello)) {
            replay.receive();
            assertFalse(replay.send(answer).receiveReply().accepted());
        }
        assertAllIsWell();
    }

    /** A flood that goes on while a member is restarted and is linked again. */
    @Test
    void halfOpenHandshakesKeepNoRestartedMemberOut() throws Exception {
        int restarted = ensemble.follower();
        List<Integer> ports = ensemble.ids().stream()
                .filter(id -> id != restarted)
                .map(this::peerPort)
                .toList();
        ensemble.kill(restarted);
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Long> flood = CompletableFuture.supplyAsync(() -> flood(ports, over));
        await().until(() ->
                ensemble.ids().stream().filter(id -> id != restarted).allMatch(id -> counter(id, "gave_way") > 300));
        ensemble.restart(restarted);
        ensemble.awaitServing(restarted);
        assertAllIsWell();
        assertFalse(flood.isDone());
        over.set(true);
        assertTrue(flood.get(120, TimeUnit.SECONDS) > 1000);
    }

    /** Keeps 1,300 connections open, with a byte each, and makes new ones all the time. */
    private long flood(List<Integer> ports, AtomicBoolean over) {
        Deque<Socket> open = new ArrayDeque<>();
        long made = 0;
        try {
            while (!over.get()) {
                Socket socket = new Socket();
                open.add(socket);
                // an address of its own, so that it does not take the port of a server that is to start again
                socket.bind(new InetSocketAddress("127.0.0.2", 0));
                socket.connect(new InetSocketAddress("127.0.0.1", ports.get((int) (made++ % ports.size()))));
                attempt(() -> socket.getOutputStream().write(firstByte()));
                if (open.size() > 1300) {
                    open.remove().close();
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
                }
            }
            return made;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        } finally {
            for (Socket socket : open) {
                attempt(socket::close);
            }
        }
    }

    // ---- with the secret

    @Test
    void absurdTermsAndSecondLeadersEndTheirLinkAndAreCounted() throws Exception {
        for (int server : ensemble.ids()) {
            long directory = facts(server, server).directory();
            attack(server, new VoteRequest(false, Long.MAX_VALUE, 0, 0, directory, true));
            attack(server, new Append((1L << 41), 0, 0, 0, 0, List.of()));
            await().until(() -> status(server).leader() != 0);
            attack(server, new Append(status(server).term(), 0, 0, 0, 0, List.of()));
        }
        assertAllIsWell();
    }

    /** Until it is cut off for it. */
    private void attack(int server, PeerMessage message) throws IOException {
        long before = counter(server, "conflicts");
        try (RawPeer insider = dial(server)) {
            assertTrue(insider.prove(secret(), server, facts(server, 9)).accepted());
            insider.message(message);
            insider.drain();
        }
        await().until(() -> counter(server, "conflicts") > before);
    }

    /** The contradicted one may answer for an election timeout; after that the link is of no use. */
    @Test
    void aLeaderThatContradictsWhatIsCommittedIsCutOffAndNotFollowed() throws Exception {
        int server = ensemble.follower();
        await().until(() -> status(server).commitIndex() > 0);
        try (RawPeer insider = dial(server)) {
            assertTrue(insider.prove(secret(), server, facts(server, 9)).accepted());
            await().until(() -> {
                LogStatus at = status(server);
                try {
                    insider.message(
                            new Append(at.term() + 1, at.commitIndex(), at.term() + 1, at.commitIndex(), 1, List.of()));
                    return insider.in.available() < 0;
                } catch (IOException e) {
                    return true;
                }
            });
        }
        assertTrue(counter(server, "conflicts") > 1);
        assertAllIsWell();
    }

    /** It stops for that, and keeps its log; the others go on, and an operator says that the disk is right. */
    @Test
    void aMemberThatIsSaidToHaveAnOldDiskKeepsItsLog() throws Exception {
        int server = ensemble.follower();
        await().until(() -> status(server).commitIndex() > 0);
        Start later = new Start(facts(server, server).directory(), 1_000, 1);
        LogStatus at = status(server);
        Greeting claim =
                new Greeting(later, 0, at.commitIndex() + 1_000_000, at.term() + 1_000, at.commitIndex() + 1_000_000);
        // two strangers are no confirmation, also if both are linked after the member has stopped
        try (RawPeer first = greet(server, 7, claim)) {
            await().until(() -> status(server).noLeaderReason().startsWith("this server takes no part"));
            try (RawPeer second = greet(server, 8, claim);
                    RawPeer third = greet(server, 9, claim)) {
                await().until(() -> !ensemble.server(server).isServing());
                for (int i = 0; i < 3; i++) {
                    writeAndRead();
                    first.message(claim);
                    second.message(claim);
                    third.message(claim);
                }
                awaitAsked(server);
            }
        }
        assertEquals(LogRole.FOLLOWING, status(server).role());

        ensemble.stop(server);
        Disk disk = RealDisk.in(home.resolve("server-" + server).resolve("log"));
        assertTrue(disk.list().stream().noneMatch(name -> name.startsWith("set-aside")), disk.list()::toString);
        assertTrue(OfflineLog.trust(disk));
        ensemble.restart(server);
        ensemble.awaitServing(server);
        assertAllIsWell();
    }

    private RawPeer greet(int server, int as, PeerMessage claim) throws IOException {
        RawPeer insider = dial(server);
        assertTrue(insider.prove(secret(), server, facts(server, as)).accepted());
        return insider.message(claim);
    }

    /** A member that is asked makes its link anew, and is heard behind all that came before. */
    private void awaitAsked(int server) throws IOException {
        int other = ensemble.awaitLeader();
        try (RawPeer asked = greet(server, other, new Commit(0, 0))) {
            asked.drain();
        }
    }
}
