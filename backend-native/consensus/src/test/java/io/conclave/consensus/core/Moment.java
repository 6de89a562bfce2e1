package io.conclave.consensus.core;

/** Moments in a simulated member's life at which a fault does most harm. */
enum Moment {
    /** It is about to make a vote durable, and to answer. */
    VOTES,
    /** It has just been elected, and nobody has heard of it. */
    LEADS,
    /** It has made batches durable, and is about to acknowledge them. */
    WRITES,
    /** The same, of the first batches after its leader's link to it was made anew. */
    ANSWERS_ANEW,
    /** It has another configuration in its log. */
    CONFIGURED,
    /** Its log was cut, and it says that it has caught up. */
    CAUGHT_UP
}
