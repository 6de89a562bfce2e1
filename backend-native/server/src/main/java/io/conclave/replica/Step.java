package io.conclave.replica;

import io.conclave.tree.Applied;
import org.jspecify.annotations.Nullable;

/**
 * One applied entry of the log.
 *
 * @param applied the state right after it, its result and its events
 * @param origin the proposal it came from, if it was proposed on this member in this life
 */
public record Step(Applied applied, @Nullable ChangeProposal origin) {}
