package io.conclave.locks;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The data of a lease's znode, as text: {@code lease <milliseconds> <permits>}, and in the next line the owner.
 *
 * @param lease how long it lasts from each change of the znode
 * @param permits how many permits it takes; 1 of a lock
 * @param owner what the owner has left for others to see
 */
record LeaseRecord(Duration lease, int permits, String owner) {
    /** The longest lease: a year. */
    static final Duration LONGEST = Duration.ofDays(365);

    private static final Pattern TEXT = Pattern.compile("lease ([0-9]{1,11}) ([1-9][0-9]{0,8})\n(.*)", Pattern.DOTALL);

    /**
     * A lease in whole milliseconds, rounded up.
     *
     * @throws IllegalArgumentException if it is not positive, or longer than {@link #LONGEST}
     */
    static Duration checked(Duration lease) {
        if (lease.isZero() || lease.isNegative() || lease.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "Invalid lease " + lease + ": it must be positive, and at most " + LONGEST.toDays() + " days");
        }
        return Duration.ofMillis(lease.plusNanos(999_999).toMillis());
    }

    byte[] encoded() {
        return ("lease " + lease.toMillis() + " " + permits + "\n" + owner).getBytes(UTF_8);
    }

    /** Reads the data; empty if it is none of ours. */
    static Optional<LeaseRecord> parse(byte[] data) {
        Matcher matcher = TEXT.matcher(new String(data, UTF_8));
        if (!matcher.matches()) {
            return Optional.empty();
        }
        Duration lease = Duration.ofMillis(Long.parseLong(matcher.group(1)));
        boolean isValid = !lease.isZero() && lease.compareTo(LONGEST) <= 0;
        return isValid
                ? Optional.of(new LeaseRecord(lease, Integer.parseInt(matcher.group(2)), matcher.group(3)))
                : Optional.empty();
    }

    /** The same, with another lease if that is longer: one that others rely on never gets shorter. */
    LeaseRecord extendedTo(Duration other) {
        return other.compareTo(lease) > 0 ? new LeaseRecord(other, permits, owner) : this;
    }
}
