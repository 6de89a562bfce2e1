package io.conclave.consensus.entry;

/**
 * One start of a member. The number is one more than that of the start before in the same directory, and durable before
 * anything is said: so a directory that shows a number for the second time, with another id, was set back to an older
 * state.
 *
 * @param directory the random id of its directory; 0 for no start
 * @param number 1 for the first start in the directory
 * @param id random
 */
public record Start(long directory, long number, long id) {
    /** Of a member of which none is known. */
    public static final Start NONE = new Start(0, 0, 0);

    /** Whether the other one is a later start in the same directory, or has taken the same number. */
    public boolean isOvertakenBy(Start other) {
        return directory != 0
                && directory == other.directory
                && (other.number > number || (other.number == number && other.id != id));
    }
}
