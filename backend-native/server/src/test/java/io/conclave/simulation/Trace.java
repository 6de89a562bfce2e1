package io.conclave.simulation;

import io.conclave.consensus.simulation.VirtualTime;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.TreeMap;

/** The last things that happened, and a number that stands for all of them. */
final class Trace {
    private static final int KEPT = 400;

    private record Event(long atUs, String what, long first, long second, Object detail) {
        @Override
        public String toString() {
            return String.format("%,13d us  %s %d %x  %s", atUs, what, first, second, detail);
        }
    }

    private final VirtualTime time;
    private final ArrayDeque<Event> last = new ArrayDeque<>(KEPT);
    private final Map<String, Integer> counts = new TreeMap<>();
    private final boolean printing;
    private long hash;
    private long count;

    Trace(VirtualTime time, boolean printing) {
        this.time = time;
        this.printing = printing;
    }

    /** @param detail is not part of the number, and asked for its text when the trace is printed only */
    void event(String what, long first, long second, Object detail) {
        mix(time.nowUs());
        mix(what.hashCode());
        mix(first);
        mix(second);
        count++;
        if (last.size() == KEPT) {
            last.remove();
        }
        Event event = new Event(time.nowUs(), what, first, second, detail);
        last.add(event);
        if (printing) {
            System.out.println(event);
        }
    }

    private void mix(long value) {
        long mixed = (hash ^ value) * 0x9e3779b97f4a7c15L;
        hash = mixed ^ (mixed >>> 29);
    }

    /** A fault, which is counted. */
    void fault(String what, long first, long second) {
        count(what);
        event("FAULT " + what, first, second, "");
    }

    void count(String what) {
        counts.merge(what, 1, Integer::sum);
    }

    Map<String, Integer> counts() {
        return counts;
    }

    long hash() {
        return hash;
    }

    long eventCount() {
        return count;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        last.forEach(event -> text.append(event).append('\n'));
        return text.toString();
    }
}
