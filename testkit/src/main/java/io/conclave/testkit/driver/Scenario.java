package io.conclave.testkit.driver;

/**
 * One run of a recipe, the same every time: it starts the victim, which meets the faults, and the other actors.
 *
 * <p>Called on a thread of its own, once for each run, with a fresh store. It need not wait for the actors that it
 * started: the driver does. What it throws fails the run.
 */
@FunctionalInterface
public interface Scenario {
    /** Plays the run. May block, in ways that end when others proceed or when manual time passes. */
    void play(FaultRun run) throws Exception;
}
