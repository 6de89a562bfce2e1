package io.conclave.benchmarks;

import java.time.Duration;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * One library's turns at a double barrier, over rounds that come to no end: Curator's lets nobody leave now and then.
 * Such a round is told and not measured, and the next turn has new sessions at a barrier of its own; after a few of
 * them the library has no more turns.
 */
final class DoubleBarrierTurns implements AutoCloseable {
    private static final int MAX_STUCK = 3;

    private final String name;
    private final Library library;
    private final IntFunction<DoubleBarrierLoad> open;
    private final RecipeReport report;
    private DoubleBarrierLoad load;
    private int stuck;

    /**
     * Opens the first sessions. Blocks.
     *
     * @param open makes the load at the barrier with this number
     */
    DoubleBarrierTurns(String name, Library library, IntFunction<DoubleBarrierLoad> open, RecipeReport report) {
        this.name = name;
        this.library = library;
        this.open = open;
        this.report = report;
        this.load = open.apply(0);
    }

    /** One turn; empty if it came to no end. Blocks. */
    Optional<Measurement> run(Duration duration) {
        if (stuck == MAX_STUCK) {
            return Optional.empty();
        }
        try {
            return Optional.of(load.run(duration));
        } catch (BenchmarkException e) {
            stuck++;
            report.stuck(name, library, e);
            load.close();
            load = open.apply(stuck);
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        load.close();
    }
}
