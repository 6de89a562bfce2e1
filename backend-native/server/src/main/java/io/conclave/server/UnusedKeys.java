package io.conclave.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lines of a configuration file whose keys are ZooKeeper's and not used here. Not thread-safe. */
final class UnusedKeys {
    private static final Logger LOG = LoggerFactory.getLogger(UnusedKeys.class);

    /** Schemes that are always there, so the line that adds one is true. */
    private static final Set<String> BUILT_IN = Set.of(
            "org.apache.zookeeper.server.auth.DigestAuthenticationProvider",
            "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
            "org.apache.zookeeper.server.auth.IPAuthenticationProvider",
            "org.apache.zookeeper.server.auth.X509AuthenticationProvider");

    private final List<String> unused = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private final List<String> refused = new ArrayList<>();

    /**
     * Takes a line.
     *
     * @param key as it was written
     * @param place where the line is
     * @throws ConfigException if the value is not one that the key can have
     */
    void take(ZooKeeperKeys.Key known, String key, String value, String place) {
        known.rule().check(key, value);
        if (known.isHarmless(value) || BUILT_IN.contains(value)) {
            return;
        }
        switch (known.effect()) {
            case UNUSED -> unused.add(key);
            case WARNED -> warnings.add(place + ": " + key + "=" + value + " is not in force: " + known.text());
            case REFUSED -> refused.add(place + ": key " + key + " promises " + known.text());
        }
    }

    /** @throws ConfigException that names all lines that promise protection which is missing, if there are any */
    void refuse() {
        if (!refused.isEmpty()) {
            throw new ConfigException(String.join(", ", refused)
                    + ". That is not supported yet, and the server would run without it; remove "
                    + (refused.size() == 1 ? "the line" : "these lines") + " if it may");
        }
    }

    /** Tells the operator which lines have no effect. */
    void log(String file) {
        for (String warning : warnings) {
            LOG.warn("{}: {}", file, warning);
        }
        if (!unused.isEmpty()) {
            LOG.info("{}: these keys of ZooKeeper have no effect here: {}", file, String.join(", ", unused));
        }
    }
}
