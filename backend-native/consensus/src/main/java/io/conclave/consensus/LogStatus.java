package io.conclave.consensus;

import java.util.UUID;

/**
 * Where a log stands.
 *
 * @param role what it is doing
 * @param term the current term; 0 before the first
 * @param lastIndex index of the last entry written
 * @param commitIndex index of the last entry applied
 * @param clusterId the id the cluster got at birth; all zero before the log has started
 * @param disk whether there is room
 */
public record LogStatus(LogRole role, long term, long lastIndex, long commitIndex, UUID clusterId, DiskState disk) {}
