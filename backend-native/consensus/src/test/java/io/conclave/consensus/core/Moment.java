package io.conclave.consensus.core;

/** Moments of a simulated member at which a fault is most dangerous. */
enum Moment {
    /** It is about to make a vote durable, and to answer. */
    VOTES,
    /** It has just been elected, and no member has heard of it. */
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
