package io.conclave.examples;

import io.conclave.config.ConfigUpdate;
import io.conclave.config.ConfigView;
import io.conclave.config.Configuration;
import io.conclave.coordinator.Coordinator;
import java.time.Duration;

/**
 * Prints each state of the configuration that it sees; intermediate ones may be skipped, the latest comes, and both
 * keys always fit together.
 */
public final class ConfigWatcher {
    private ConfigWatcher() {}

    /**
     * Runs until its input ends.
     *
     * @param arguments name, connect string
     */
    public static void main(String[] arguments) throws Exception {
        try (Coordinator coordinator = DemoStage.connect(arguments[1]);
                ConfigView view =
                        Configuration.at(coordinator, ConfigUpdater.PATH).view()) {
            view.onChange(ConfigWatcher::print);
            view.awaitFirstSnapshot(Duration.ofSeconds(30));
            while (System.in.read() >= 0) {
                System.out.println("still watching");
            }
        }
    }

    private static void print(ConfigUpdate update) {
        long size = update.snapshot().get(ConfigUpdater.SIZE).orElse(0L);
        long twice = update.snapshot().get(ConfigUpdater.TWICE).orElse(0L);
        System.out.println((twice == 2 * size ? "size " : "TORN ") + size + ", twice the size " + twice);
    }
}
