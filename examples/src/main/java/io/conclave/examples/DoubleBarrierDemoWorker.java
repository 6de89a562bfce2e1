package io.conclave.examples;

import io.conclave.barriers.DoubleBarrier;
import io.conclave.barriers.Participation;
import io.conclave.coordinator.Coordinator;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * One of the processes of {@link DoubleBarrierDemo}: comes, works and goes home when it is told to and the others do.
 */
public final class DoubleBarrierDemoWorker {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private DoubleBarrierDemoWorker() {}

    /**
     * Goes through the barrier for every two lines of input.
     *
     * @param arguments name, connect string
     */
    public static void main(String[] arguments) throws Exception {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Coordinator coordinator = DemoStage.connect(arguments[1])) {
            DoubleBarrier barrier =
                    DoubleBarrier.at(coordinator, DoubleBarrierDemo.BARRIER, DoubleBarrierDemo.PARTICIPANTS);
            System.out.println("is ready");
            while (orders.readLine() != null) {
                System.out.println("comes");
                try (Participation participation = barrier.enter(PATIENCE)) {
                    System.out.println("begins");
                    orders.readLine();
                    System.out.println("has finished");
                    participation.leave(PATIENCE);
                }
                System.out.println("goes home");
            }
        }
    }
}
