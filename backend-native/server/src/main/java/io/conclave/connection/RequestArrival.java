package io.conclave.connection;

import io.conclave.protocol.ReceivedBytes;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * The request of one connection of which a part is there: a long one arrives when {@link ArrivingRequests} has room for
 * it. While others wait for that room, a client that sends too little of its request is cut. Belongs to the
 * connection's loop.
 */
final class RequestArrival implements ArrivingRequests.Arrival {
    /** What a client sends, or takes of its answers, at least between two looks. */
    static final int LEAST_BYTES = 64 << 10;

    /** A client that does less is cut behind so many looks in a row: one can fall into a pause of this server. */
    static final int LOOKS = 3;

    private enum Place {
        NONE,
        WAITING,
        INSIDE
    }

    private final ClientConnection connection;
    private final ReceivedBytes received;
    private final ArrivingRequests all;
    private final LimitGuard guard;
    private final BooleanSupplier isHeldUp;
    private Place place = Place.NONE;

    /** How much the client had sent and taken at the last look. */
    private long bytesBefore;

    private int looksWithLittle;

    /** So that looks do not pile up while the loop stands. */
    private final AtomicBoolean lookPosted = new AtomicBoolean();

    /** @param isHeldUp whether it waits now because of the server alone */
    RequestArrival(
            ClientConnection connection,
            ReceivedBytes received,
            ArrivingRequests all,
            LimitGuard guard,
            BooleanSupplier isHeldUp) {
        this.connection = connection;
        this.received = received;
        this.all = all;
        this.guard = guard;
        this.isHeldUp = isHeldUp;
    }

    /** The next request is not all there: it asks for room, unless it has, or needs none. */
    void awaitRest() {
        int length = received.announcedFrameLength().orElse(0);
        if (place == Place.NONE && length > ArrivingRequests.FREE_BYTES) {
            if (all.enter(this, length)) {
                begins();
            } else {
                place = Place.WAITING;
                guard.held(ClientLimit.ARRIVING_BYTES);
            }
        }
    }

    private void begins() {
        place = Place.INSIDE;
        bytesBefore = movedBytes();
        looksWithLittle = -1; // the next look may come at once
    }

    private long movedBytes() {
        return received.size() + connection.takenBytes();
    }

    /** Whether the rest of the next request is not read until there is room. */
    boolean waits() {
        return place == Place.WAITING;
    }

    /** The request is taken out of what was received, or the connection ends. */
    void end() {
        if (place != Place.NONE) {
            place = Place.NONE;
            all.leave(this);
        }
    }

    @Override
    public String network() {
        return connection.network();
    }

    @Override
    public void admitted() {
        connection.loop().post(() -> {
            if (place == Place.WAITING) {
                begins();
                connection.resume();
            }
        });
    }

    @Override
    public void lookedAt() {
        if (lookPosted.compareAndSet(false, true)) {
            connection.loop().post(this::look);
        }
    }

    private void look() {
        lookPosted.set(false);
        if (place != Place.INSIDE) {
            return;
        }
        long bytes = movedBytes();
        boolean isLittle = bytes - bytesBefore < LEAST_BYTES && !isHeldUp.getAsBoolean();
        bytesBefore = bytes;
        looksWithLittle = isLittle ? looksWithLittle + 1 : 0;
        if (looksWithLittle >= LOOKS) {
            guard.refused(
                    ClientLimit.ARRIVING_BYTES,
                    "to wait for the rest of a request of " + connection + ": " + received.size()
                            + " bytes of it are there, its client has sent and taken few lately, and others wait");
            connection.close("its request does not arrive, or waits for its client, and others wait for that");
        }
    }
}
