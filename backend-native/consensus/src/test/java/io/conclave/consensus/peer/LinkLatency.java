package io.conclave.consensus.peer;

import io.conclave.consensus.PeerTls;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.Note;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * A program: how long a small message takes from one member to another over loopback, half of there and back; and how
 * many bytes go in one direction. Arguments: {@code nio} for Java's sockets, {@code tls} for links with TLS.
 */
final class LinkLatency {
    private static final int WARM_UP = 50_000;
    private static final int MEASURED = 100_000;

    private static final int NOTE_BYTES = 64 * 1024;
    private static final int NOTES = 16_000;
    private static final int IN_FLIGHT = 32;

    private LinkLatency() {}

    /** Answers each turn's messages at its end, as a member does. */
    private abstract static class Answering implements PeerListener {
        final PeerNetwork network;
        final CountDownLatch linked = new CountDownLatch(1);
        final List<PeerMessage> came = new ArrayList<>();

        Answering(PeerNetwork network) {
            this.network = network;
        }

        abstract void answer(PeerMessage message);

        @Override
        public void linked(int to, PeerFacts facts) {
            linked.countDown();
        }

        @Override
        public void linkDown(int to) {}

        @Override
        public void inboundLost(int from) {}

        @Override
        public void arrived(int from, long directory, PeerMessage message) {
            came.add(message);
        }

        @Override
        public void turnEnd() {
            came.forEach(this::answer);
            came.clear();
            network.flush();
        }
    }

    private static final class Caller extends Answering {
        final long[] nanos = new long[MEASURED];
        final CountDownLatch timed = new CountDownLatch(1);
        final CountDownLatch poured = new CountDownLatch(1);
        private int count = -WARM_UP;
        private long sentAt;

        private final byte[] note = new byte[NOTE_BYTES];
        private int notesSent;
        private int notesAnswered;

        Caller(PeerNetwork network) {
            super(network);
        }

        void call() {
            sentAt = System.nanoTime();
            network.send(2, new AppendReply(1, true, count + WARM_UP, 0, 0, 0));
        }

        void pour() {
            while (notesSent < NOTES && notesSent - notesAnswered < IN_FLIGHT) {
                notesSent++;
                network.send(2, new Note(note));
            }
        }

        @Override
        void answer(PeerMessage message) {
            if (message instanceof Note) {
                notesAnswered++;
                pour();
                if (notesAnswered == NOTES) {
                    poured.countDown();
                }
                return;
            }
            if (count >= 0) {
                nanos[count] = System.nanoTime() - sentAt;
            }
            if (++count < MEASURED) {
                call();
            } else {
                timed.countDown();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        boolean nativeTransport = !Arrays.asList(args).contains("nio");
        PeerTls tls = Arrays.asList(args).contains("tls") ? new TestTls().members() : PeerTls.NONE;
        try (PeerNetwork one = network(nativeTransport, tls);
                PeerNetwork two = network(nativeTransport, tls)) {
            Caller caller = new Caller(one);
            Answering called = new Answering(two) {
                @Override
                void answer(PeerMessage message) {
                    network.send(1, message instanceof Note ? new Note(new byte[0]) : message);
                }
            };
            one.open(TestPeer.facts(1), caller);
            two.open(TestPeer.facts(2), called);
            Map<Integer, EnsembleMember> members =
                    Map.of(1, TestPeer.member(1, one.port()), 2, TestPeer.member(2, two.port()));
            one.members(members);
            two.members(members);
            caller.linked.await();
            called.linked.await();
            one.execute(() -> {
                caller.call();
                one.flush();
            });
            caller.timed.await();
            long from = System.nanoTime();
            one.execute(() -> {
                caller.pour();
                one.flush();
            });
            caller.poured.await();
            double seconds = (System.nanoTime() - from) / 1e9;
            Arrays.sort(caller.nanos);
            System.out.printf(
                    "one way, us: p50 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f; %.0f MB/s%n",
                    at(caller, 0.5),
                    at(caller, 0.9),
                    at(caller, 0.99),
                    at(caller, 0.999),
                    (double) NOTES * NOTE_BYTES / (1 << 20) / seconds);
        }
    }

    private static PeerNetwork network(boolean nativeTransport, PeerTls tls) {
        return PeerNetwork.create(
                TestPeer.options(0).nativeTransport(nativeTransport).tls(tls).build());
    }

    private static double at(Caller caller, double quantile) {
        return caller.nanos[(int) (quantile * MEASURED)] / 2000.0;
    }
}
