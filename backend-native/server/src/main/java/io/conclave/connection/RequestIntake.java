package io.conclave.connection;

import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReceivedBytes;
import java.util.ArrayDeque;
import java.util.OptionalInt;

/**
 * How much of one connection's requests is taken in: a number and bytes that may wait for their answers, some time of
 * the loop in one go, and large ones only when {@link LargeRequests} has room. What is not taken in stays in the
 * socket, so a client that asks for much is slowed down and not refused. Belongs to the connection's loop.
 */
final class RequestIntake {
    /** What the parts of a request cost beside their bytes: a request of 1 MB can have tens of thousands. */
    private static final int FACTOR_OF_PARTS = 8;

    /** In front of a request's operation. */
    static final int XID_BYTES = Integer.BYTES;

    private enum Gate {
        NOT_ASKED,
        WAITING,
        ADMITTED
    }

    /** What one waiting request holds. */
    private record Held(int bytes, long large) {
        static final Held NOTHING = new Held(0, 0);
    }

    private final ClientConnection connection;
    private final LimitGuard guard;
    private final LargeRequests largeRequests;
    private final long threshold;
    private final long mostBytes;
    private final long mostBytesOfAll;
    private final ArrayDeque<Held> held = new ArrayDeque<>();
    private long heldBytes;
    private Gate gate = Gate.NOT_ASKED;

    /** What was counted for this connection when it was admitted, and belongs to no request yet. */
    private long admittedWeight;

    /** What the request that is answered now counted among the large ones, and counts again when it goes on. */
    private long asideWeight;

    private boolean gone;

    /** What is being handled, or answered, now; its room is given back when that is done. */
    private Held present = Held.NOTHING;

    RequestIntake(ClientConnection connection, LimitGuard guard, LargeRequests largeRequests) {
        this.connection = connection;
        this.guard = guard;
        this.largeRequests = largeRequests;
        this.threshold = guard.limits().most(ClientLimit.LARGE_REQUEST_BYTES);
        this.mostBytes = guard.limits().most(ClientLimit.BYTES_IN_FLIGHT_OF_CONNECTION);
        this.mostBytesOfAll = guard.limits().most(ClientLimit.BYTES_IN_FLIGHT);
    }

    /** Whether another request may be taken in; a connection without any may always have one. */
    boolean hasRoom() {
        return held.isEmpty() || (heldBytes < mostBytes && guard.bytesInFlight() < mostBytesOfAll);
    }

    /** Whether the next request waits for room among the large ones. */
    boolean waits() {
        return gate == Gate.WAITING;
    }

    /** Looks at the next frame, if all of it is there, before it is handled: whether that may be done now. */
    boolean tryBegin(ReceivedBytes received) {
        OptionalInt length = received.nextFrameLength();
        if (length.isEmpty()) {
            return true;
        }
        int bytes = length.getAsInt();
        long weight = weightOf(bytes, received);
        if (weight <= threshold) {
            present = new Held(bytes, 0);
            return true;
        }
        if (gate == Gate.NOT_ASKED
                && !largeRequests.enter(() -> connection.loop().post(() -> admitted(weight)), weight)) {
            gate = Gate.WAITING;
            guard.held(ClientLimit.LARGE_REQUESTS_BYTES);
            return false;
        }
        gate = Gate.NOT_ASKED;
        admittedWeight = 0;
        present = new Held(bytes, weight);
        return true;
    }

    private static long weightOf(int bytes, ReceivedBytes received) {
        int opCode = received.intOfNextFrame(XID_BYTES).orElse(0);
        boolean parts = opCode == OpCode.MULTI.code()
                || opCode == OpCode.MULTI_READ.code()
                || opCode == OpCode.SET_WATCHES.code()
                || opCode == OpCode.SET_WATCHES2.code();
        return parts ? (long) FACTOR_OF_PARTS * bytes : bytes;
    }

    private void admitted(long weight) {
        if (gone) {
            largeRequests.leave(weight);
            return;
        }
        gate = Gate.ADMITTED;
        admittedWeight = weight;
        connection.resume();
    }

    /**
     * The client takes no answers, so that its next request is not taken in either: the room that this was given among
     * the large ones goes to others.
     */
    void giveWay() {
        if (gate == Gate.ADMITTED) {
            gate = Gate.NOT_ASKED;
            leave(new Held(0, admittedWeight));
            admittedWeight = 0;
        }
    }

    /**
     * The request that is answered now waits for something that large requests of others do not wait for: they may have
     * its room meanwhile.
     */
    void stepAside() {
        asideWeight += present.large;
        leave(present);
        present = new Held(present.bytes, 0);
    }

    /**
     * Has the request that has stepped aside come back.
     *
     * @param back runs when it is there: now, or on the loop later, unless the connection ends
     */
    void comeBack(Runnable back) {
        long weight = asideWeight;
        if (weight == 0 || largeRequests.enter(() -> connection.loop().post(() -> cameBack(weight, back)), weight)) {
            cameBack(weight, back);
        }
    }

    private void cameBack(long weight, Runnable back) {
        if (gone) {
            largeRequests.leave(weight);
            return;
        }
        asideWeight = 0;
        present = new Held(present.bytes, present.large + weight);
        back.run();
    }

    /** The request that has begun waits for its answer. */
    void waiting() {
        held.add(present);
        heldBytes += present.bytes;
        guard.inFlight(present.bytes);
        present = Held.NOTHING;
    }

    /** The request that has begun was handled, or answered; if it does not wait, it is over. */
    void handled() {
        Held over = present;
        present = Held.NOTHING;
        leave(over);
    }

    /** The first of those that wait is about to be answered. */
    void answering() {
        present = removeFirst();
    }

    private Held removeFirst() {
        Held first = held.remove();
        heldBytes -= first.bytes;
        guard.inFlight(-first.bytes);
        return first;
    }

    private void leave(Held request) {
        if (request.large > 0) {
            largeRequests.leave(request.large);
        }
    }

    /** The connection ends, and none of them is answered. */
    void end() {
        gone = true;
        handled();
        while (!held.isEmpty()) {
            leave(removeFirst());
        }
        giveWay();
    }

    /** Why no more is taken in, for the counters. */
    ClientLimit reason() {
        return heldBytes >= mostBytes ? ClientLimit.BYTES_IN_FLIGHT_OF_CONNECTION : ClientLimit.BYTES_IN_FLIGHT;
    }
}
