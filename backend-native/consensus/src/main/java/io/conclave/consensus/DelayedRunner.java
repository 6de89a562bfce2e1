package io.conclave.consensus;

/** Runs something later: the owner's scheduler, or a simulator's. */
@FunctionalInterface
public interface DelayedRunner {

    /** Runs the action once, on any thread, about the given delay from now. Must not block. */
    void runAfter(long delayMs, Runnable action);
}
