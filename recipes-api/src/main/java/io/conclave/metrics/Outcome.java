package io.conclave.metrics;

/** How something that lasted has ended; see {@link Ongoing#end}. */
public enum Outcome {
    /** A wait: what was waited for came. */
    GRANTED,
    /** A wait: its time was over, or it was not to wait and others were first. */
    TIMED_OUT,
    /** A wait: its caller was interrupted, cancelled it, or stepped back. */
    GIVEN_UP,
    /** A hold: its holder gave it back. */
    RELEASED,
    /** The session was lost, or the znode was deleted by others; see {@link Ongoing#REASON}. */
    LOST,
    /** The coordinator was closed. */
    CLOSED,
    /** The store refused it, or its answer did not come; see {@link Ongoing#failed}. */
    FAILED
}
