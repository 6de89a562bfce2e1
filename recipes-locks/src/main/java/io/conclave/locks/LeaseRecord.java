package io.conclave.locks;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The data of a lease's znode, as text: {@code lease <milliseconds> <permits> <writer>}, and in the next line the
 * owner.
 *
 * @param lease how long it lasts from each change of the znode
 * @param permits how many permits it takes; 1 of a lock
 * @param owner what the owner has left for others to see
 * @param writer names the grant's object that has written this, in one process: so it knows its own write again whose
 *     reply was lost. Empty if nobody says so
 */
record LeaseRecord(Duration lease, int permits, String owner, String writer) {
    /** The longest lease: a year. */
    static final Duration LONGEST = Duration.ofDays(365);

    private static final Pattern TEXT =
            Pattern.compile("lease ([0-9]{1,11}) ([1-9][0-9]{0,8})(?: ([0-9a-f-]{36}))?\n(.*)", Pattern.DOTALL);

    /** Written by nobody yet. */
    LeaseRecord(Duration lease, int permits, String owner) {
        this(lease, permits, owner, "");
    }

    static String newWriter() {
        return UUID.randomUUID().toString();
    }

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
        String by = writer.isEmpty() ? "" : " " + writer;
        return ("lease " + lease.toMillis() + " " + permits + by + "\n" + owner).getBytes(UTF_8);
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
                ? Optional.of(new LeaseRecord(
                        lease,
                        Integer.parseInt(matcher.group(2)),
                        matcher.group(4),
                        Objects.requireNonNullElse(matcher.group(3), "")))
                : Optional.empty();
    }

    /** The same, with another lease if that is longer: one that others rely on never gets shorter. */
    LeaseRecord extendedTo(Duration other) {
        return other.compareTo(lease) > 0 ? new LeaseRecord(other, permits, owner, writer) : this;
    }

    LeaseRecord writtenBy(String other) {
        return new LeaseRecord(lease, permits, owner, other);
    }
}
