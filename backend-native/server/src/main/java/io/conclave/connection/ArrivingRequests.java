package io.conclave.connection;

import io.conclave.consensus.AddressLines;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Lets few bytes of long requests arrive at a time: what is there of a request is in memory until the rest is there
 * too, and that is for its client to send. The others wait in {@linkplain AddressLines lines} by address, and nothing
 * more is read from their connections; meanwhile those that arrive are looked at now and then. An address has twice the
 * room that it leaves, and its first request as much as there is: so one whose clients send slowly leaves room for
 * others. Thread-safe.
 */
final class ArrivingRequests {
    /** A request up to this length arrives without asking. */
    static final int FREE_BYTES = 16 << 10;

    /** While a request waits, those that arrive are looked at once in so long. */
    static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

    /** A request that is too long to arrive without asking. Each object stands for one at a time. */
    interface Arrival {
        /** Whose it is; see {@link ClientConnection#network}. */
        String network();

        /** There is room for it, and it is counted; from any thread. */
        void admitted();

        /** Others wait for it to arrive; from any thread. */
        void lookedAt();
    }

    private final TimeSource time;
    private final long most;

    private record Place(Arrival arrival, int bytes) {
        String network() {
            return arrival.network();
        }
    }

    // All below: @GuardedBy("this").
    private final Map<Arrival, Place> inside = new LinkedHashMap<>();
    private final AddressLines<Place> waiting = new AddressLines<>();
    private final Map<String, Long> bytesByNetwork = new HashMap<>();
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
        waiting.add(arrival.network(), new Place(arrival, bytes));
        if (admit().contains(arrival)) {
            return true;
        }
        lookLater();
        return false;
    }

    /** The request is handled, or its connection has ended. Idempotent. */
    void leave(Arrival arrival) {
        List<Arrival> admitted;
        synchronized (this) {
            Place left = inside.remove(arrival);
            if (left != null) {
                count(left, -left.bytes);
            } else {
                waiting.removeIf(arrival.network(), place -> place.arrival.equals(arrival));
            }
            admitted = admit();
        }
        admitted.forEach(Arrival::admitted);
    }

    private List<Arrival> admit() {
        List<Arrival> admitted = new ArrayList<>();
        for (Place next = first(); next != null && hasRoomFor(next.bytes); next = first()) {
            waiting.next(this::leavesEnough);
            inside.put(next.arrival, next);
            count(next, next.bytes);
            admitted.add(next.arrival);
        }
        return admitted;
    }

    private @Nullable Place first() {
        return waiting.peek(this::leavesEnough).orElse(null);
    }

    private boolean hasRoomFor(int bytes) {
        return bytesInside == 0 || bytesInside + bytes <= most;
    }

    private boolean leavesEnough(Place place) {
        long before = bytesByNetwork.getOrDefault(place.network(), 0L);
        // half of what it has, not twice what is left: without a bound that is all a long can tell
        return before == 0 || (before + place.bytes + 1) / 2 <= most - bytesInside - place.bytes;
    }

    private void count(Place place, int more) {
        bytesInside += more;
        long ofNetwork = bytesByNetwork.getOrDefault(place.network(), 0L) + more;
        if (ofNetwork == 0) {
            bytesByNetwork.remove(place.network());
        } else {
            bytesByNetwork.put(place.network(), ofNetwork);
        }
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
            boolean thereIsNoRoom = first() != null; // else each waits for others of its own address
            now = inside.values().stream()
                    .filter(place -> thereIsNoRoom || waiting.count(place.network()) > 0)
                    .map(Place::arrival)
                    .toList();
        }
        now.forEach(Arrival::lookedAt);
    }

    /** The lengths of those that arrive now. */
    synchronized long bytesInside() {
        return bytesInside;
    }
}
