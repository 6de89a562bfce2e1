package io.conclave.consensus;

import io.conclave.consensus.entry.LogEntryKind;
import org.jspecify.annotations.Nullable;

/**
 * One committed entry.
 *
 * @param kind what it is about
 * @param payload its bytes, not to be changed
 * @param origin the proposal it came from, if it was proposed through this log object; null for the log's own entries
 *     and for what recovery reads from disk
 */
public record CommittedEntry(
        LogEntryKind kind, byte[] payload, @Nullable Proposal origin) {}
