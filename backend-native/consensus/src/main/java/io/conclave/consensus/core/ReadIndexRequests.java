package io.conclave.consensus.core;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/** The read indexes that this member asks the leader for. Kept until answered; sent again to each new leader. */
final class ReadIndexRequests {
    private final Outbox outbox;
    private final Map<Long, byte[]> waiting = new LinkedHashMap<>();
    private long sentMs;

    ReadIndexRequests(Outbox outbox) {
        this.outbox = outbox;
    }

    void add(long nowMs, long id, byte[] note) {
        if (waiting.isEmpty()) {
            sentMs = nowMs;
        }
        waiting.put(id, note);
    }

    /** An answer that is not waited for, the second one to a request that was sent again, is dropped. */
    void answered(long id, long index) {
        if (waiting.remove(id) != null) {
            outbox.readIndex(id, index);
        }
    }

    /** When all are to be sent again, since an answer may have been lost. */
    long resendDueMs(long timeoutMs) {
        return waiting.isEmpty() ? Long.MAX_VALUE : sentMs + timeoutMs;
    }

    void sendAll(long nowMs, BiConsumer<Long, byte[]> sender) {
        sentMs = nowMs;
        waiting.forEach(sender);
    }
}
