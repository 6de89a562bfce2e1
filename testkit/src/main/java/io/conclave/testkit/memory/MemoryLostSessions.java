package io.conclave.testkit.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The sessions that one client has lost, and which the server may keep. Guarded by the store's lock. */
final class MemoryLostSessions {
    private final List<MemorySession> all = new ArrayList<>();

    void add(MemorySession lost) {
        all.add(lost);
    }

    /** For how long somebody may still rely on one of them. */
    Duration promised() {
        return all.stream()
                .map(MemorySession::promised)
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
    }

    /** What they have under way takes effect now, or never. */
    void end() {
        all.forEach(MemorySession::endAtServer);
        all.clear();
    }
}
