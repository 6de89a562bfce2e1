package io.conclave.connection;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * Lets few bytes of large requests at a time into a server, so that what others write waits behind few of them. The
 * others wait in the order in which they came, and nothing more is read from their connections. Thread-safe.
 */
final class LargeRequests {
    /** A connection whose next request waits here. */
    interface Waiting {
        /** There is room for it, and it is counted; from any thread. */
        void admitted();
    }

    private record Place(Waiting waiting, long weight) {}

    private final long most;

    // Both: @GuardedBy("this").
    private final Queue<Place> places = new ArrayDeque<>();
    private long inside;

    LargeRequests(long most) {
        this.most = most;
    }

    /**
     * Lets a request in, or has it wait until there is room. One that is larger than all that may be inside goes in
     * alone.
     *
     * @return whether it is inside now; if not, it is told later
     */
    synchronized boolean enter(Waiting waiting, long weight) {
        if (places.isEmpty() && hasRoomFor(weight)) {
            inside += weight;
            return true;
        }
        places.add(new Place(waiting, weight));
        return false;
    }

    /** A request that was inside has been answered, or never will be. */
    void leave(long weight) {
        List<Waiting> admitted = new ArrayList<>();
        synchronized (this) {
            inside -= weight;
            for (Place next = places.peek(); next != null && hasRoomFor(next.weight); next = places.peek()) {
                places.remove();
                inside += next.weight;
                admitted.add(next.waiting);
            }
        }
        admitted.forEach(Waiting::admitted);
    }

    private boolean hasRoomFor(long weight) {
        return inside == 0 || inside + weight <= most;
    }

    synchronized long inside() {
        return inside;
    }
}
