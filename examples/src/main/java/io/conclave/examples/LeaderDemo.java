package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.election.Leader;
import io.conclave.election.LeaderElection;
import io.conclave.grant.FencingToken;
import io.conclave.time.TimeSource;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Processes campaign for leadership: the leader is killed, the next one succeeds; it hands over to a candidate of its
 * choice; that one resigns. An observer prints who leads.
 */
public final class LeaderDemo {
    static final String ELECTION = "/elections/scheduler";

    private final BlockingQueue<Optional<Leader>> seen = new LinkedBlockingQueue<>();
    private FencingToken lastToken = new FencingToken(0, 0);

    private LeaderDemo() {}

    /** Runs the demo; exit status 0 if everything that it shows is as it should be. */
    public static void main(String[] arguments) throws Exception {
        LeaderDemo demo = new LeaderDemo();
        try (DemoStage stage = DemoStage.open();
                Coordinator coordinator = stage.connect()) {
            LeaderElection.at(coordinator, ELECTION).observe(demo::onLeader); // until the coordinator is closed
            demo.play(stage);
        }
    }

    private void onLeader(Optional<Leader> leader) {
        System.out.println("observer: "
                + leader.map(some -> some.text() + " leads, token " + some.token())
                        .orElse("no leader"));
        seen.add(leader);
    }

    private void play(DemoStage stage) throws InterruptedException {
        awaitLeader("no leader");
        DemoProcess ann = candidate(stage, "ann");
        awaitLeader("ann");
        DemoProcess ben = candidate(stage, "ben");
        candidate(stage, "cleo");
        DemoProcess dora = candidate(stage, "dora");

        System.out.println("ann is killed with -9");
        ann.kill();
        long killedAtMs = TimeSource.system().wallMillis();
        awaitLeader("ben");
        DemoStage.checkCameBack("ben succeeded", killedAtMs);

        System.out.println("ben is told to hand over to dora, before whom cleo stands in line");
        ben.tell("dora");
        awaitLeader("dora");
        ben.awaits("has handed over");

        System.out.println("dora is told to resign");
        dora.tell("resign");
        awaitLeader("cleo");
        System.out.println("Checked: each leader's token was larger than the one before");
    }

    private static DemoProcess candidate(DemoStage stage, String name) throws InterruptedException {
        DemoProcess candidate = stage.start(name, LeaderDemoCandidate.class);
        candidate.awaits("in line");
        return candidate;
    }

    /**
     * Waits until the observer has seen this one lead. Who saw the former leader go may hear of "no leader" in between,
     * or of the successor at once.
     */
    private void awaitLeader(String name) throws InterruptedException {
        while (true) {
            Optional<Leader> leader = seen.poll(60, TimeUnit.SECONDS);
            if (leader == null) {
                throw new IllegalStateException("For a minute nobody has seen this: " + name);
            }
            leader.ifPresent(this::checkToken);
            if (leader.map(Leader::text).orElse("no leader").equals(name)) {
                return;
            }
        }
    }

    private void checkToken(Leader leader) {
        if (leader.token().compareTo(lastToken) <= 0) {
            throw new IllegalStateException(leader + " has no larger token than the leader before, " + lastToken);
        }
        lastToken = leader.token();
    }
}
