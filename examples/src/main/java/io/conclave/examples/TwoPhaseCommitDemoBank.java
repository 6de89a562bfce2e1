package io.conclave.examples;

import io.conclave.commit.Decision;
import io.conclave.commit.TwoPhaseCommit;
import io.conclave.coordinator.Coordinator;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The process that coordinates one transfer of {@link TwoPhaseCommitDemo}. */
public final class TwoPhaseCommitDemoBank {
    private TwoPhaseCommitDemoBank() {}

    /**
     * Begins the transfer, says what was decided, and stays until it is killed.
     *
     * @param arguments name, connect string, the transfer's id, the session timeout
     */
    public static void main(String[] arguments) throws Exception {
        String id = arguments[2];
        try (Coordinator coordinator = Coordinator.builder(arguments[1])
                .sessionTimeout(Duration.parse(arguments[3]))
                .connect()) {
            Decision decision = TwoPhaseCommit.at(coordinator, TwoPhaseCommitDemo.TRANSFERS)
                    .withVoteTimeout(Duration.ofMinutes(1))
                    .commit(id, "100 from berlin".getBytes(StandardCharsets.UTF_8), TwoPhaseCommitDemo.SITES);
            System.out.println(id + ": " + decision);
            System.in.read();
        }
    }
}
