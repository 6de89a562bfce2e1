package io.conclave.consensus.peer;

import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** A program: how long a small message takes from one member to another over loopback, half of there and back. */
final class LinkLatency {
    private static final int WARM_UP = 50_000;
    private static final int MEASURED = 100_000;

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
        final CountDownLatch done = new CountDownLatch(1);
        private int count = -WARM_UP;
        private long sentAt;

        Caller(PeerNetwork network) {
            super(network);
        }

        void call() {
            sentAt = System.nanoTime();
            network.send(2, new AppendReply(1, true, count, 0, 0, 0));
        }

        @Override
        void answer(PeerMessage message) {
            if (count >= 0) {
                nanos[count] = System.nanoTime() - sentAt;
            }
            if (++count < MEASURED) {
                call();
            } else {
                done.countDown();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        boolean nativeTransport = args.length == 0 || !args[0].equals("nio");
        try (PeerNetwork one = network(nativeTransport);
                PeerNetwork two = network(nativeTransport)) {
            Caller caller = new Caller(one);
            Answering called = new Answering(two) {
                @Override
                void answer(PeerMessage message) {
                    network.send(1, message);
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
            caller.done.await();
            Arrays.sort(caller.nanos);
            System.out.printf(
                    "one way, us: p50 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f%n",
                    at(caller, 0.5), at(caller, 0.9), at(caller, 0.99), at(caller, 0.999));
        }
    }

    private static PeerNetwork network(boolean nativeTransport) {
        return PeerNetwork.create(
                TestPeer.options(0).nativeTransport(nativeTransport).build());
    }

    private static double at(Caller caller, double quantile) {
        return caller.nanos[(int) (quantile * MEASURED)] / 2000.0;
    }
}
