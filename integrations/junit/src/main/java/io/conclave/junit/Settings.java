package io.conclave.junit;

import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.ensemble.ConclaveEnsemble;
import java.util.function.UnaryOperator;

/**
 * What an environment is made with.
 *
 * @param servers 0 for a store in memory
 * @param manualClock whether the clock is a manual one, even if no parameter asks for it
 */
record Settings(
        int servers,
        boolean manualClock,
        UnaryOperator<CoordinatorBuilder> coordinators,
        UnaryOperator<ConclaveEnsemble.Builder> ensemble) {
    static final Settings DEFAULT = new Settings(0, false, UnaryOperator.identity(), UnaryOperator.identity());
    private static final int MOST_SERVERS = 255;

    Settings {
        if (servers < 0 || servers > MOST_SERVERS) {
            throw new IllegalArgumentException("Invalid number of servers " + servers
                    + ": it must be 0, for a store in memory, or 1 to " + MOST_SERVERS);
        }
        if (manualClock && servers > 0) {
            throw new IllegalArgumentException("Invalid settings: a manual clock and " + servers
                    + " servers; servers have the machine's clock, so leave one of them out");
        }
    }

    static Settings of(ConclaveTest annotation) {
        return DEFAULT.withServers(annotation.servers());
    }

    Settings withServers(int number) {
        return new Settings(number, manualClock, coordinators, ensemble);
    }
}
