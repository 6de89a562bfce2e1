package io.conclave.consensus.core;

import io.conclave.consensus.member.CoreFactory;
import java.util.SplittableRandom;

/** Cores with a mistake in their rules, for simulations that know no rules. */
public final class MistakenCores {
    private MistakenCores() {}

    /** @param mistake the name of a {@link Mistake} that is one of the rules */
    public static CoreFactory with(String mistake) {
        Rules rules = Mistake.valueOf(mistake).rules();
        return (start, options, seed, nowMs) -> new Core(options, start, new SplittableRandom(seed), nowMs, rules);
    }
}
