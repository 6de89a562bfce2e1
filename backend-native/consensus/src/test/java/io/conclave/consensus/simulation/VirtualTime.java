package io.conclave.consensus.simulation;

import java.util.PriorityQueue;

/** Time that passes when the next thing happens. All things happen on one thread, in the order of their times. */
public final class VirtualTime {
    private record Event(long atUs, long order, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return atUs != other.atUs ? Long.compare(atUs, other.atUs) : Long.compare(order, other.order);
        }
    }

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long nowUs;
    private long orders;

    /** Microseconds since the beginning. */
    public long nowUs() {
        return nowUs;
    }

    public long nowMs() {
        return nowUs / 1000;
    }

    /** Lets something happen later. */
    public void after(long delayUs, Runnable action) {
        events.add(new Event(nowUs + Math.max(0, delayUs), orders++, action));
    }

    /** Lets the next thing happen, if it does so before the given time. */
    public boolean step(long untilUs) {
        Event next = events.peek();
        if (next == null || next.atUs > untilUs) {
            nowUs = Math.max(nowUs, untilUs);
            return false;
        }
        events.remove();
        nowUs = next.atUs;
        next.action.run();
        return true;
    }

    /** Lets all happen that happens within the time. */
    public void run(long durationUs) {
        long untilUs = nowUs + durationUs;
        while (step(untilUs)) {
            // goes on
        }
    }
}
