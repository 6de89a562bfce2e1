package io.conclave.consensus.member;

import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;

/** Warnings that a peer can cause as often as it sends: each is logged once, and the last few are remembered. */
final class RareWarnings {
    private static final int REMEMBERED = 16;

    private final Logger log;
    private final Set<String> told = new LinkedHashSet<>();

    RareWarnings(Logger log) {
        this.log = log;
    }

    /** @param warning empty for none */
    void tell(String warning) {
        if (!warning.isEmpty() && told.add(warning)) {
            log.error("{}", warning);
            if (told.size() > REMEMBERED) {
                told.remove(told.iterator().next());
            }
        }
    }
}
