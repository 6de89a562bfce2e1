package io.conclave.connection;

import java.util.ArrayDeque;

/**
 * The requests of one connection, first in, first answered. Writes are proposed as they come, without waiting for those
 * before them; reads wait here behind the connection's own writes, and for nothing else. Belongs to the connection's
 * loop.
 */
final class RequestPipeline {
    private final ClientConnection connection;
    private final RequestIntake intake;
    private final ArrayDeque<PendingAnswer> waiting = new ArrayDeque<>();
    private Runnable whenCleared = () -> {};

    /** The request that is answered now is done part by part. */
    private boolean partlyDone;

    RequestPipeline(ClientConnection connection, RequestIntake intake) {
        this.intake = intake;
        this.connection = connection;
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    int size() {
        return waiting.size();
    }

    /** Whether nothing but pings may be handled before the last of these is answered. */
    boolean holdsNext() {
        PendingAnswer last = waiting.peekLast();
        return last != null && last.holdsNext();
    }

    void submit(PendingAnswer request) {
        if (waiting.isEmpty() && request.isReady()) {
            request.answer();
        } else if (!connection.isGone()) {
            waiting.add(request);
            intake.waiting();
            connection.statistics().waiting(1);
        }
    }

    /**
     * Answers what can be answered, whether or not the client keeps up: a read that waited longer would see later
     * writes of its own connection, and its watch would miss them.
     */
    void advance() {
        while (!connection.isGone()) {
            PendingAnswer first = waiting.peek();
            if (first == null || !first.isReady()) {
                return;
            }
            waiting.remove();
            connection.statistics().waiting(-1);
            intake.answering();
            first.answer();
            handled();
        }
    }

    /** A request was handled, or answered; one that is done part by part keeps its room until it is done. */
    void handled() {
        if (!partlyDone) {
            intake.handled();
        }
    }

    /** Whether the request that is answered now has begun, and is not done. */
    void partlyDone(boolean newPartlyDone) {
        partlyDone = newPartlyDone;
    }

    /** The request that is answered part by part waits for something else: others may have its room meanwhile. */
    void stepAside() {
        intake.stepAside();
    }

    /** It goes on, when there is room again. */
    void comeBack(Runnable goOn) {
        intake.comeBack(goOn);
    }

    /** Answers everything before the given write, which is about to be shown. */
    void settleBefore(PendingAnswer write) {
        for (PendingAnswer earlier : waiting) {
            if (earlier == write) {
                break;
            }
            earlier.settle();
        }
        advance();
    }

    /** @param action runs when the connection has ended: there is one at most */
    void whenCleared(Runnable action) {
        whenCleared = action;
    }

    void clear() {
        connection.statistics().waiting(-waiting.size());
        waiting.clear();
        intake.end();
        whenCleared.run();
    }
}
