package io.conclave.consensus.entry;

/**
 * Whose proposal an entry is, so that one that is sent twice is applied once.
 *
 * @param member the member through which it was proposed; 0 for the leader's own entries (terms, configurations)
 * @param incarnation the log index of that member's STARTED entry
 * @param sequence 1, 2, 3 ... in that incarnation
 */
public record Origin(int member, long incarnation, long sequence) {
    /** Of an entry that no member proposed. */
    public static final Origin NONE = new Origin(0, 0, 0);
}
