package io.conclave.testkit.driver;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Which faults a run meets. Its text, such as {@code 4:DROP_AFTER@500ms,6:INTERRUPT} or
 * {@code 2:GONE_AFTER/removes it}, repeats the run alone: see {@link FaultDriver}.
 *
 * @param strikes the faults in order of the requests; none for a clean run
 */
public record Plan(List<Strike> strikes) {
    /** No faults at all. */
    public static final Plan CLEAN = new Plan(List.of());

    /**
     * One fault.
     *
     * @param index at which of the victim's requests, from 0
     * @param fault what happens
     * @param reconnectDelay how long a dropped connection stays away
     * @param rival the name of what a rival does meanwhile; empty for faults without a rival
     */
    public record Strike(int index, Fault fault, Duration reconnectDelay, String rival) {
        /** A fault without a rival. */
        public Strike(int index, Fault fault, Duration reconnectDelay) {
            this(index, fault, reconnectDelay, "");
        }

        @Override
        public String toString() {
            return index + ":" + fault + (rival.isEmpty() ? "" : "/" + rival)
                    + (reconnectDelay.isZero() ? "" : "@" + reconnectDelay.toMillis() + "ms");
        }

        private static Strike parse(String text) {
            String[] parts = text.trim().split("[:@]", -1);
            try {
                long delayMs = parts.length < 3 ? 0 : Long.parseLong(parts[2].replace("ms", ""));
                String[] kind = parts[1].split("/", 2);
                return new Strike(
                        Integer.parseInt(parts[0]),
                        Fault.valueOf(kind[0].toUpperCase(Locale.ROOT)),
                        Duration.ofMillis(delayMs),
                        kind.length < 2 ? "" : kind[1]);
            } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
                throw new IllegalArgumentException(
                        "Invalid fault \"" + text + "\": write index:FAULT, index:FAULT@500ms or index:FAULT/rival", e);
            }
        }
    }

    /** Copies the strikes, in order of the requests. */
    public Plan {
        strikes =
                strikes.stream().sorted(Comparator.comparingInt(Strike::index)).toList();
    }

    /** One fault at one request; a dropped connection comes back at once. */
    static Plan of(int index, Fault fault) {
        return new Plan(List.of(new Strike(index, fault, Duration.ZERO)));
    }

    /** One absence at one request, and what a rival does meanwhile. */
    static Plan of(int index, Fault absence, String rival) {
        return new Plan(List.of(new Strike(index, absence, Duration.ZERO, rival)));
    }

    /** Whether a rival acts. */
    boolean hasRivals() {
        return strikes.stream().anyMatch(strike -> strike.fault().isAbsence());
    }

    /**
     * Reads what {@link #toString} writes.
     *
     * @throws IllegalArgumentException if the text breaks the form, naming the part
     */
    public static Plan parse(String text) {
        List<Strike> strikes = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            strikes.add(Strike.parse(part));
        }
        return new Plan(strikes);
    }

    @Override
    public String toString() {
        return strikes.isEmpty()
                ? "no fault"
                : strikes.stream().map(Strike::toString).collect(Collectors.joining(","));
    }
}
