package io.conclave.consensus;

/** Why a queued proposal certainly was not applied. */
public enum Rejection {
    /** No room for another log segment, here or on the leader; proposals are taken again when there is room. */
    DISK_FULL,
    /** The log was closed before the proposal was written. */
    CLOSED,
    /** The log failed (see {@link FatalHandler}) before the proposal was written. */
    FAILED
}
