package io.conclave.examples;

import io.conclave.config.ConfigKey;
import io.conclave.config.Configuration;
import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import java.util.concurrent.TimeUnit;

/**
 * Writes a number into the configuration ten times a second, and survives the loss of its session: a lost connection is
 * waited out by the library; what fails for a lost session is done again, with the coordinator's next session, a
 * bounded number of times.
 */
public final class ResilientConfigUpdater {
    static final ConfigKey<Long> BEAT = ConfigKey.ofLong("beat");
    private static final int MAX_ATTEMPTS = 10;

    private ResilientConfigUpdater() {}

    /**
     * Runs until it is killed.
     *
     * @param arguments name, connect string
     */
    public static void main(String[] arguments) throws Exception {
        try (Coordinator coordinator = DemoStage.connect(arguments[1])) {
            coordinator.onStateChange(state -> System.out.println("session " + state));
            Configuration configuration = Configuration.at(coordinator, ConfigUpdater.PATH);
            for (long beat = 1; ; beat++) {
                write(configuration, beat);
                TimeUnit.MILLISECONDS.sleep(100);
            }
        }
    }

    private static void write(Configuration configuration, long beat) throws InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                configuration.set(BEAT, beat); // as good twice as once
                if (attempt > 1) {
                    System.out.println("wrote " + beat + " at attempt " + attempt);
                }
                return;
            } catch (SessionGoneException | OutcomeUnknownException e) {
                System.out.println("did not write " + beat + ": " + e.getClass().getSimpleName());
                giveUpAfter(attempt, e);
            }
        }
    }

    private static void giveUpAfter(int attempt, ConclaveException failure) throws InterruptedException {
        if (attempt == MAX_ATTEMPTS) {
            throw failure;
        }
        TimeUnit.MILLISECONDS.sleep(100L * attempt);
    }
}
