package io.conclave.testkit.history;

import io.conclave.grant.FencingToken;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether a history is one of a fair exclusive lock.
 *
 * <ul>
 *   <li>Mutual exclusion: a grant holds from the moment it is given until it is released or lost, at most until its
 *       deadline; no two do so at the same time.
 *   <li>Tokens: each grant's token is larger than those of all grants given before.
 *   <li>Order: no grant is given while a contender with a smaller creation zxid, known to be in line before, still
 *       waits.
 *   <li>Sense: no client is granted the lock twice, or releases what it was not granted.
 * </ul>
 *
 * <p>It never cries wolf over a late record: a grant that was over when it was recorded counts as not held, and a
 * waiter that went or was lost in the end may have been out of the line at the server before it knew, so it was not
 * overtaken. A waiter that is granted the lock later, or still waits at the end, was.
 */
public final class LockHistoryChecker {
    private static final double NANOS_PER_MILLI = 1e6;

    private final List<LockEvent> events;
    private final Map<String, Hold> holds = new LinkedHashMap<>();
    private final List<Violation> violations = new ArrayList<>();
    private final long startNanos;

    /** The rules that a history can break. */
    public enum Rule {
        /** Two grants held at the same time. */
        OVERLAP,
        /** A grant has a smaller token than an earlier one. */
        TOKEN_WENT_BACK,
        /** Two grants have the same token. */
        TOKEN_REPEATED,
        /** A waiter was passed by a later one. */
        OVERTAKEN,
        /** The record itself makes no sense. */
        NONSENSE
    }

    /**
     * A broken rule.
     *
     * @param rule which
     * @param report what happened, with names, tokens and times in milliseconds since the first event
     */
    public record Violation(Rule rule, String report) {
        @Override
        public String toString() {
            return rule + ": " + report;
        }
    }

    /** A grant as it was held. */
    private static final class Hold {
        final String contender;
        final FencingToken token;
        final long fromNanos;
        long deadlineNanos;

        @Nullable
        Long endNanos;
        /** Positions in the record decide between events of the same time. */
        private final int grantedAt;

        private int endedAt = Integer.MAX_VALUE;

        Hold(LockEvent grant, int grantedAt) {
            this.grantedAt = grantedAt;
            this.contender = grant.contender();
            this.token = grant.token();
            this.fromNanos = grant.atNanos();
            this.deadlineNanos = grant.endsNanos();
        }

        void end(long atNanos, int position) {
            if (endNanos == null) {
                endNanos = atNanos;
                endedAt = position;
            }
        }

        boolean isOverAt(Hold later) {
            return endedAt < later.grantedAt || deadlineNanos <= later.fromNanos;
        }

        boolean wasOverWhenRecorded() {
            return deadlineNanos <= fromNanos;
        }

        long untilNanos() {
            Long end = endNanos;
            return end == null ? deadlineNanos : Math.min(end, deadlineNanos);
        }
    }

    private LockHistoryChecker(List<LockEvent> events) {
        this.events = events;
        this.startNanos = events.isEmpty() ? 0 : events.get(0).atNanos();
    }

    /** The rules that the history breaks; none if it is a lock's. */
    public static List<Violation> check(LockHistory history) {
        return check(history.events());
    }

    /** The rules that these events, in the order of recording, break. */
    public static List<Violation> check(List<LockEvent> events) {
        LockHistoryChecker checker = new LockHistoryChecker(List.copyOf(events));
        checker.collectHolds();
        checker.checkOverlaps();
        checker.checkTokens();
        checker.checkOrder();
        return List.copyOf(checker.violations);
    }

    /**
     * Returns if the history is a lock's.
     *
     * @throws AssertionError with all violations and the events, one a line
     */
    public static void assertClean(LockHistory history) {
        List<LockEvent> events = history.events();
        List<Violation> violations = check(events);
        if (!violations.isEmpty()) {
            LockHistoryChecker printer = new LockHistoryChecker(events);
            throw new AssertionError(violations.stream()
                            .map(Violation::toString)
                            .collect(Collectors.joining("\n  ", violations.size() + " violations:\n  ", "\n"))
                    + events.stream().map(printer::line).collect(Collectors.joining("\n  ", "History:\n  ", "")));
        }
    }

    private void collectHolds() {
        for (int position = 0; position < events.size(); position++) {
            LockEvent event = events.get(position);
            Hold hold = holds.get(event.contender());
            switch (event.kind()) {
                case GRANTED -> {
                    if (hold != null) {
                        violate(Rule.NONSENSE, event.contender() + " was granted the lock twice: " + line(event));
                    } else {
                        holds.put(event.contender(), new Hold(event, position));
                    }
                }
                case EXTENDED -> {
                    if (hold != null && hold.endNanos == null) {
                        hold.deadlineNanos = Math.max(hold.deadlineNanos, event.endsNanos());
                    }
                }
                case RELEASED -> {
                    if (hold == null) {
                        violate(Rule.NONSENSE, event.contender() + " released what it did not have: " + line(event));
                    } else {
                        hold.end(event.atNanos(), position);
                    }
                }
                case LOST -> {
                    if (hold != null) {
                        hold.end(event.atNanos(), position);
                    }
                }
                case REQUESTED, ENQUEUED, ABANDONED -> {
                    // They concern the line.
                }
            }
        }
    }

    private void checkOverlaps() {
        List<Hold> active = new ArrayList<>();
        for (Hold hold : holds.values()) {
            active.removeIf(earlier -> earlier.isOverAt(hold));
            if (!hold.wasOverWhenRecorded()) {
                active.forEach(earlier -> violate(
                        Rule.OVERLAP,
                        describe(earlier) + " and " + describe(hold) + " held the lock at the same time"));
                active.add(hold);
            }
        }
    }

    private void checkTokens() {
        Hold largest = null;
        for (Hold hold : holds.values()) {
            if (largest != null) {
                int order = hold.token.compareTo(largest.token);
                if (order < 0 && hold.wasOverWhenRecorded()) {
                    continue;
                }
                if (order == 0) {
                    violate(Rule.TOKEN_REPEATED, describe(largest) + " and " + describe(hold) + " have the same token");
                } else if (order < 0) {
                    violate(Rule.TOKEN_WENT_BACK, describe(hold) + " came after " + describe(largest));
                }
            }
            if (largest == null || hold.token.compareTo(largest.token) > 0) {
                largest = hold;
            }
        }
    }

    private void checkOrder() {
        Set<String> gone = contendersThatWent();
        Map<String, Long> waiting = new HashMap<>();
        Map<String, Long> places = new HashMap<>();
        for (LockEvent event : events) {
            switch (event.kind()) {
                case ENQUEUED -> {
                    if (!gone.contains(event.contender())) {
                        waiting.put(event.contender(), event.token().sequence());
                    }
                    places.put(event.contender(), event.token().sequence());
                }
                case GRANTED -> {
                    waiting.remove(event.contender());
                    long place = place(event, places);
                    waiting.forEach((waiter, zxid) -> {
                        if (zxid < place) {
                            violate(
                                    Rule.OVERTAKEN,
                                    waiter + " (created by zxid " + Long.toHexString(zxid)
                                            + ") still waited when the later "
                                            + event.contender() + " (created by zxid " + Long.toHexString(place)
                                            + ") was granted the lock at " + millis(event.atNanos()));
                        }
                    });
                }
                case REQUESTED, EXTENDED, ABANDONED, LOST, RELEASED -> {
                    // Not in line yet, or no longer.
                }
            }
        }
    }

    /** The waiters that left the line without having held the lock. */
    private Set<String> contendersThatWent() {
        Set<String> gone = events.stream()
                .filter(event -> event.kind() == LockEvent.Kind.ABANDONED || event.kind() == LockEvent.Kind.LOST)
                .map(LockEvent::contender)
                .filter(contender -> !holds.containsKey(contender))
                .collect(Collectors.toSet());
        holds.values().stream().filter(Hold::wasOverWhenRecorded).forEach(hold -> gone.add(hold.contender));
        return gone;
    }

    /** The place in the line; without an entry in the record, the token has it. */
    private static long place(LockEvent grant, Map<String, Long> places) {
        return places.getOrDefault(grant.contender(), grant.token().sequence());
    }

    private void violate(Rule rule, String report) {
        violations.add(new Violation(rule, report));
    }

    private String describe(Hold hold) {
        String end = hold.endNanos == null ? "its deadline" : "its end";
        return hold.contender + " (token " + hold.token + ", from " + millis(hold.fromNanos) + " to " + end + " at "
                + millis(hold.untilNanos()) + ")";
    }

    private String line(LockEvent event) {
        String token = event.token().equals(LockEvent.NO_TOKEN) ? "" : " " + event.token();
        String until = event.endsNanos() == 0 ? "" : " until " + millis(event.endsNanos());
        return millis(event.atNanos()) + " " + event.contender() + " " + event.kind() + token + until;
    }

    private String millis(long nanos) {
        return String.format(Locale.ROOT, "%.3f ms", (nanos - startNanos) / NANOS_PER_MILLI);
    }
}
