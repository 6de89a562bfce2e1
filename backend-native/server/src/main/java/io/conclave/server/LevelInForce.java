package io.conclave.server;

import io.conclave.tree.TreeState;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Whether a feature level is in force. Once it is, it stays so, also while there is no state because that of a snapshot
 * is being read. Thread-safe.
 */
final class LevelInForce implements BooleanSupplier {
    private final int level;
    private final Supplier<TreeState> state;
    private volatile boolean reached;

    /** @param state the newest one */
    LevelInForce(int level, Supplier<TreeState> state) {
        this.level = level;
        this.state = state;
    }

    @Override
    public boolean getAsBoolean() {
        if (!reached && state.get().featureLevel() >= level) {
            reached = true;
        }
        return reached;
    }
}
