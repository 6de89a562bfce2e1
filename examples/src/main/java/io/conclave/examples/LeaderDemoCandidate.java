package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.election.Candidacy;
import io.conclave.election.Candidate;
import io.conclave.election.LeaderElection;
import io.conclave.election.Leadership;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A candidate of {@link LeaderDemo}: leads until it is told to resign, or to whom it shall hand over, and then
 * campaigns again.
 */
public final class LeaderDemoCandidate {
    private final String name;
    private final LeaderElection election;
    private final BlockingQueue<String> orders = new LinkedBlockingQueue<>();

    private LeaderDemoCandidate(String name, LeaderElection election) {
        this.name = name;
        this.election = election;
    }

    /**
     * Runs until its input ends.
     *
     * @param arguments name, connect string
     */
    public static void main(String[] arguments) throws Exception {
        try (Coordinator coordinator = DemoStage.connect(arguments[1])) {
            LeaderElection election = LeaderElection.at(coordinator, LeaderDemo.ELECTION)
                    .withData(arguments[0].getBytes(StandardCharsets.UTF_8));
            new LeaderDemoCandidate(arguments[0], election).run();
        }
    }

    private void run() throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Candidacy candidacy = election.runWhileLeader(this::lead)) {
            List<String> line;
            do { // until the server has put us into it
                line = election.candidates().stream().map(Candidate::text).toList();
            } while (!line.contains(name));
            System.out.println("in line: " + String.join(", ", line));
            for (String order = input.readLine(); order != null; order = input.readLine()) {
                orders.add(order);
            }
            System.out.println("led " + candidacy.runCount() + " times");
        }
    }

    /** A leader's work; interrupted when the leadership is lost, and followed by the next campaign when it returns. */
    private void lead(Leadership leadership) throws InterruptedException {
        System.out.println("leads with token " + leadership.token());
        String order = orders.take();
        if (!order.equals("resign")) {
            leadership.handOver(candidate(order), Duration.ofSeconds(10));
            System.out.println("has handed over to " + order);
        }
    }

    private Candidate candidate(String name) throws InterruptedException {
        return election.candidates().stream()
                .filter(candidate -> candidate.text().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("No candidate " + name));
    }
}
