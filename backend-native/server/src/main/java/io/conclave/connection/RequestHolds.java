package io.conclave.connection;

import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReceivedBytes;
import io.conclave.time.TimeSource;
import java.time.Duration;

/** What the next request of an open connection waits for because of the server. Belongs to the connection's loop. */
final class RequestHolds {
    private static final Duration BETWEEN_TURNS = Duration.ofMillis(1);

    private final LogOffers offers;
    private final RequestArrival arrival;
    private final RequestIntake intake;
    private final RequestPipeline pipeline;
    private final RequestDispatch dispatch;
    private final Pings pings;
    private final LimitGuard guard;
    private final long maxRequestsInFlight;

    /** Others have their turn. */
    private boolean yielding;

    /** The next request comes behind one that holds up all but pings. */
    private boolean behindAnother;

    RequestHolds(
            LogOffers offers,
            RequestArrival arrival,
            RequestIntake intake,
            RequestPipeline pipeline,
            RequestDispatch dispatch,
            Pings pings,
            LimitGuard guard) {
        this.offers = offers;
        this.arrival = arrival;
        this.intake = intake;
        this.pipeline = pipeline;
        this.dispatch = dispatch;
        this.pings = pings;
        this.guard = guard;
        this.maxRequestsInFlight = guard.limits().most(ClientLimit.REQUESTS_IN_FLIGHT);
    }

    /** Whether there is anything that it waits for. */
    boolean any() {
        return offers.areWaiting()
                || yielding
                || arrival.waits()
                || intake.waits()
                || dispatch.holdsAll()
                || (behindAnother && pipeline.holdsNext())
                || !intake.hasRoom()
                || hasAllInFlight();
    }

    private boolean hasAllInFlight() {
        return pipeline.size() + pings.underWay() >= maxRequestsInFlight;
    }

    /** Looks at the next frame before it is handled: whether it has to wait for the answer to the one before it. */
    boolean checkHeldBack(ReceivedBytes received) {
        behindAnother = pipeline.holdsNext()
                && received.intOfNextFrame(RequestIntake.XID_BYTES).stream()
                        .anyMatch(opCode -> opCode != OpCode.PING.code());
        return behindAnother;
    }

    /**
     * Others that have something to do have their turn.
     *
     * @param resume runs a moment later
     */
    void yieldTurn(TimeSource time, Loop loop, Runnable resume) {
        if (yielding) {
            return;
        }
        yielding = true;
        time.schedule(
                BETWEEN_TURNS,
                () -> loop.post(() -> {
                    yielding = false;
                    resume.run();
                }));
    }

    /** Counts that the connection is not read on, if that is because it has too much in flight. */
    void count() {
        if (!intake.hasRoom()) {
            guard.held(intake.reason());
        } else if (hasAllInFlight()) {
            guard.held(ClientLimit.REQUESTS_IN_FLIGHT);
        }
    }
}
