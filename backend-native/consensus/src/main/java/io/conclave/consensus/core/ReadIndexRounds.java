package io.conclave.consensus.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * The rounds of heartbeats by which a leader confirms its leadership: many requests share a round, and several rounds
 * may be under way.
 */
final class ReadIndexRounds {
    /** A request of a member, this one included. */
    record Request(int from, long id) {}

    /** @param readIndex what was committed when the round began */
    record Round(long number, long readIndex, Set<Request> requests) {}

    private final Deque<Round> underWay = new ArrayDeque<>();
    private Set<Request> ready = new LinkedHashSet<>();
    private final Set<Request> noteUnderWay = new LinkedHashSet<>();
    private long number;

    /**
     * Takes a request in; one with a note has to wait until the note has been handed out. One that waits already, and
     * was sent again, is not taken twice.
     *
     * @return whether it is new
     */
    boolean add(Request request, boolean withNote) {
        if (ready.contains(request) || noteUnderWay.contains(request)) {
            return false;
        }
        return (withNote ? noteUnderWay : ready).add(request);
    }

    /**
     * The note of this request means nothing here, so it is not confirmed: its sender asks again, and a later leader
     * may understand it.
     */
    void refuse(Request request) {
        ready.remove(request);
        noteUnderWay.remove(request);
    }

    /** The notes have been handed out. */
    void notesGiven() {
        ready.addAll(noteUnderWay);
        noteUnderWay.clear();
    }

    boolean isWaiting() {
        return !ready.isEmpty();
    }

    void begin(long readIndex) {
        underWay.add(new Round(++number, readIndex, ready));
        ready = new LinkedHashSet<>();
    }

    /** A number that no round had before, for telling links apart. */
    long next() {
        return ++number;
    }

    long current() {
        return number;
    }

    /** Takes out the rounds that the predicate, which is monotonic, calls confirmed. */
    List<Round> confirmed(LongPredicate isConfirmed) {
        List<Round> done = new ArrayList<>();
        while (!underWay.isEmpty() && isConfirmed.test(underWay.peek().number())) {
            done.add(underWay.remove());
        }
        return done;
    }

    /** The member's link broke: it asks again, and after a restart its numbers would mean something else. */
    void forget(int member) {
        ready.removeIf(request -> request.from() == member);
        noteUnderWay.removeIf(request -> request.from() == member);
        underWay.forEach(round -> round.requests().removeIf(request -> request.from() == member));
    }
}
