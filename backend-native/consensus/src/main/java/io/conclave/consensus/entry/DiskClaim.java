package io.conclave.consensus.entry;

import java.util.Optional;

/**
 * What another member has claimed that only a disk that was set back to an older state explains; kept in the directory
 * that it concerns until it is settled.
 *
 * @param start the start of this member that was judged
 * @param index what others must have committed if it is true; 0 if they must know of it themselves
 * @param text for operators, one line
 */
public record DiskClaim(Start start, long index, String text) {
    private static final String FORMAT = "claim1";
    private static final int WORDS = 6;

    /** As the file has it that keeps it. */
    public String line() {
        return String.join(
                " ",
                FORMAT,
                Long.toString(start.directory()),
                Long.toString(start.number()),
                Long.toString(start.id()),
                Long.toString(index),
                text.replace('\n', ' '));
    }

    /** What {@link #line} gave; empty if it is something else. */
    public static Optional<DiskClaim> of(String line) {
        String[] words = line.strip().split(" ", WORDS);
        if (words.length != WORDS || !words[0].equals(FORMAT)) {
            return Optional.empty();
        }
        try {
            Start start = new Start(Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
            return Optional.of(new DiskClaim(start, Long.parseLong(words[4]), words[5]));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
