package io.conclave.election;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.testkit.contract.RecipeFixture;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Where the tests of the election's contract work, and a look at the line. */
abstract class ElectionFixture extends RecipeFixture {
    static final String PATH = "/elections/billing";
    static final NodePath ACKNOWLEDGEMENT = NodePath.of(PATH + "/leader");

    static LeaderElection electionOf(Coordinator coordinator) {
        return LeaderElection.at(coordinator, PATH);
    }

    static LeaderElection electionOf(Coordinator coordinator, String name) {
        return electionOf(coordinator).withData(name.getBytes(UTF_8));
    }

    static List<String> children(Coordinator coordinator) throws InterruptedException {
        return children(coordinator, PATH);
    }

    static void awaitCandidates(Coordinator coordinator, int count) {
        await().atMost(PATIENCE)
                .until(() -> electionOf(coordinator).candidates().size() == count);
    }

    static void awaitNothingLeft(Coordinator coordinator) {
        awaitChildren(coordinator, PATH, 0);
    }

    static List<String> names(LeaderElection election) throws InterruptedException {
        return election.candidates().stream().map(Candidate::text).toList();
    }

    /** The candidate of that name. */
    static Candidate candidate(LeaderElection election, String name) throws InterruptedException {
        return election.candidates().stream()
                .filter(one -> one.text().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** The states that an observer received, as text; "-" for no leader. */
    static final class Told implements Consumer<Optional<Leader>> {
        final List<String> states = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void accept(Optional<Leader> leader) {
            states.add(leader.map(Leader::text).orElse("-"));
        }

        String last() {
            synchronized (states) {
                return states.isEmpty() ? "" : states.get(states.size() - 1);
            }
        }

        void awaitLast(String state) {
            await("told " + states).atMost(PATIENCE).until(() -> last().equals(state));
        }
    }
}
