package io.conclave.consensus.core;

/**
 * What was ignored of a member's messages, since it cannot be.
 *
 * @param text why, in an operator's words; empty for nothing
 * @param endsLink whether the link on which it came is of no use; else the members may find out which one is wrong, by
 *     what they say to each other on it
 */
public record Complaint(String text, boolean endsLink) {
    /** Nothing was ignored. */
    public static final Complaint NONE = new Complaint("", false);

    /** Whether nothing was ignored. */
    public boolean isNone() {
        return text.isEmpty();
    }
}
