package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Lets few bytes of long requests arrive at a time: what is there of a request is in memory until the rest is there
 * too, and that is for its client to send. The others wait in the order in which they came, and nothing more is read
 * from their connections; meanwhile those that arrive are looked at now and then. Thread-safe.
 */
final class ArrivingRequests {
    /** A request up to this length arrives without asking. */
    static final int FREE_BYTES = 16 << 10;

    /** While a request waits, those that arrive are looked at once in so long. */
    static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

    /** A request that is too long to arrive without asking. Each object stands for one at a time. */
    interface Arrival {
        /** There is room for it, and it is counted; from any thread. */
        void admitted();

        /** Others wait for it to arrive; from any thread. */
        void lookedAt();
    }

    private final TimeSource time;
    private final long most;

    // All below: @GuardedBy("this"). With their lengths.
    private final Map<Arrival, Integer> inside = new LinkedHashMap<>();
    private final Map<Arrival, Integer> waiting = new LinkedHashMap<>();
    private long bytesInside;
    private boolean looking;

    ArrivingRequests(long most, TimeSource time) {
        this.most = most;
        this.time = time;
    }

    /**
     * Lets a request arrive, or has it wait until there is room. One that is longer than all that may arrive does so
     * alone.
     *
     * @return whether it may arrive now; if not, it is told later
     */
    synchronized boolean enter(Arrival arrival, int bytes) {
        if (waiting.isEmpty() && hasRoomFor(bytes)) {
            letIn(arrival, bytes);
            return true;
        }
        waiting.put(arrival, bytes);
        lookLater();
        return false;
    }

    /** The request is handled, or its connection has ended. Idempotent. */
    void leave(Arrival arrival) {
        List<Arrival> admitted = new ArrayList<>();
        synchronized (this) {
            waiting.remove(arrival);
            Integer left = inside.remove(arrival);
            bytesInside -= left == null ? 0 : left;
            Iterator<Map.Entry<Arrival, Integer>> places = waiting.entrySet().iterator();
            while (places.hasNext()) {
                Map.Entry<Arrival, Integer> next = places.next();
                if (!hasRoomFor(next.getValue())) {
                    break;
                }
                letIn(next.getKey(), next.getValue());
                admitted.add(next.getKey());
                places.remove();
            }
        }
        admitted.forEach(Arrival::admitted);
    }

    private boolean hasRoomFor(int bytes) {
        return bytesInside == 0 || bytesInside + bytes <= most;
    }

    private void letIn(Arrival arrival, int bytes) {
        inside.put(arrival, bytes);
        bytesInside += bytes;
    }

    private void lookLater() {
        if (!looking) {
            looking = true;
            time.schedule(BETWEEN_LOOKS, this::look);
        }
    }

    private void look() {
        List<Arrival> now;
        synchronized (this) {
            looking = false;
            if (waiting.isEmpty()) {
                return;
            }
            lookLater();
            now = List.copyOf(inside.keySet());
        }
        now.forEach(Arrival::lookedAt);
    }

    /** The lengths of those that arrive now. */
    synchronized long bytesInside() {
        return bytesInside;
    }
}
