package io.conclave.examples;

import io.conclave.config.ConfigBatch;
import io.conclave.config.ConfigKey;
import io.conclave.config.Configuration;
import io.conclave.coordinator.Coordinator;

/** Updates a configuration of two keys that must fit together, once for each line of input. */
public final class ConfigUpdater {
    static final String PATH = "/config";
    static final ConfigKey<Long> SIZE = ConfigKey.ofLong("pool/size");
    static final ConfigKey<Long> TWICE = ConfigKey.ofLong("pool/twice-the-size");

    private ConfigUpdater() {}

    /**
     * Runs until its input ends.
     *
     * @param arguments name, connect string
     */
    public static void main(String[] arguments) throws Exception {
        try (Coordinator coordinator = DemoStage.connect(arguments[1])) {
            Configuration configuration = Configuration.at(coordinator, PATH);
            System.out.println("is ready");
            long size = 0;
            for (int character = System.in.read(); character >= 0; character = System.in.read()) {
                if (character == '\n') {
                    size++;
                    configuration.publish(ConfigBatch.setting(SIZE, size).set(TWICE, 2 * size));
                    System.out.println("has published " + size);
                }
            }
        }
    }
}
