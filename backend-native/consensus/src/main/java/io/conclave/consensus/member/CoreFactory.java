package io.conclave.consensus.member;

import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.CoreOptions;
import io.conclave.consensus.core.CoreStart;
import java.util.SplittableRandom;

/** Makes a member's core from what recovery found. */
@FunctionalInterface
public interface CoreFactory {

    /** Plain Raft. */
    CoreFactory RAFT = (start, options, seed, nowMs) -> new Core(options, start, new SplittableRandom(seed), nowMs);

    /** @param seed of its randomness */
    Core create(CoreStart start, CoreOptions options, long seed, long nowMs);
}
