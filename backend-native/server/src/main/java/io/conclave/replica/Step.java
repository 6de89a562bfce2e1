package io.conclave.replica;

import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import org.jspecify.annotations.Nullable;

/**
 * One applied entry of the log.
 *
 * @param change what was applied
 * @param applied the state right after it, its result and its events
 * @param origin the proposal it came from, if it was proposed on this member since its start
 */
public record Step(Change change, Applied applied, @Nullable ChangeProposal origin) {}
