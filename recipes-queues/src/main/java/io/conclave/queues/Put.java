package io.conclave.queues;

import io.conclave.time.TimeSource;
import java.util.concurrent.CompletableFuture;

/**
 * An item that a caller in this process wants to put. State belongs to the session's dispatcher; {@link #outcome} may
 * be waited for by anybody.
 */
final class Put {
    private final String namePrefix;
    private final String guid;
    private final byte[] data;
    private final CompletableFuture<Boolean> outcome = new CompletableFuture<>();
    private TimeSource.Timer timer = () -> {};
    private boolean sent;
    private boolean givenUp;
    private boolean atOnce;

    /**
     * A put.
     *
     * @param guid tells the item from all others
     * @param namePrefix what its znode's name begins with; the server appends the sequence
     */
    Put(String guid, String namePrefix, byte[] data) {
        this.guid = guid;
        this.namePrefix = namePrefix;
        this.data = data;
    }

    String guid() {
        return guid;
    }

    String namePrefix() {
        return namePrefix;
    }

    byte[] data() {
        return data;
    }

    /** Whether there was room for it in time. Completes on the dispatcher. */
    CompletableFuture<Boolean> outcome() {
        return outcome;
    }

    /** Whether it is on its way, and can not be taken back. */
    boolean isSent() {
        return sent;
    }

    void sent(boolean value) {
        sent = value;
    }

    /** Whether it is to be taken back as soon as it turns out that it can be. */
    boolean isGivenUp() {
        return givenUp;
    }

    void giveUp() {
        givenUp = true;
    }

    /** Whether it waits neither for room nor for other producers. */
    boolean isAtOnce() {
        return atOnce;
    }

    void atOnce() {
        atOnce = true;
    }

    void endsBy(TimeSource.Timer newTimer) {
        timer = newTimer;
    }

    void end(boolean put) {
        timer.cancel();
        outcome.complete(put);
    }

    void fail(Throwable cause) {
        timer.cancel();
        outcome.completeExceptionally(cause);
    }
}
