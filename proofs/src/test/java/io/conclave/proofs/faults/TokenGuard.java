package io.conclave.proofs.faults;

import io.conclave.grant.FencingToken;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The smallest guarded store: it remembers the largest token that it has seen, and refuses a writer with a smaller one.
 * Thread-safe.
 */
public final class TokenGuard {
    // both @GuardedBy("this")
    private @Nullable FencingToken largest;
    private final List<String> written = new ArrayList<>();

    /** Writes, unless a client with a larger token has been here; returns whether it did. */
    public synchronized boolean write(FencingToken token, String value) {
        if (largest != null && token.compareTo(largest) < 0) {
            return false;
        }
        largest = token;
        written.add(value);
        return true;
    }

    /** What was written, in order. */
    public synchronized List<String> written() {
        return List.copyOf(written);
    }
}
