package io.conclave.spi;

import io.conclave.request.Request;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * One session with a backend: it carries requests in order, keeps itself alive, and reconnects until it is lost or
 * closed.
 *
 * <p>Promises that every backend keeps:
 *
 * <ul>
 *   <li>Requests are executed in the order in which they were submitted, and completed in that order.
 *   <li>State changes, watch events and completions are delivered one at a time on the {@link #dispatcher()}, in the
 *       order in which they came; so an event is seen before any state that came after it. Nothing there may block.
 *   <li>A request that has not been sent waits for a connection; one that was sent when the connection went ends with
 *       {@link io.conclave.error.OutcomeUnknownException}, and takes effect before the first request answered on the
 *       next connection, or never; if the session is lost, before the {@linkplain Backend#openSession next one} is
 *       connected, or never.
 *   <li>One-shot and persistent watches survive a change of connection: what happened to a one-shot watch in between is
 *       reported.
 *   <li>After LOST every request ends with {@link io.conclave.error.SessionGoneException}, after CLOSED with {@link
 *       io.conclave.error.ClosedException}.
 * </ul>
 */
public interface BackendSession {
    /** The session's id; 0 before the first connection. */
    long id();

    /** The state now; listeners may not have received it yet. */
    SessionState state();

    /**
     * Submits a request. Never blocks. The stage completes on the dispatcher with the answer or with the request's
     * failure: refused, outcome unknown, session gone or closed (see {@link io.conclave.error}).
     *
     * @param <R> what the backend answers
     */
    <R> CompletionStage<R> submit(Request<R> request);

    /** Where events and completions are delivered, one at a time; tasks given to it run in order with them. */
    Executor dispatcher();

    /**
     * The number of the connection whose events and completions are being delivered now: raised by every delivered
     * CONNECTED, and when the session has moved to another server without being SUSPENDED. Read on the dispatcher. Two
     * equal readings mean an uninterrupted connection between them.
     */
    long connectionNumber();

    /**
     * How long this session surely lives from now if nothing more is heard: until then the backend cannot give away
     * what belongs to it. Zero before the first connection and after the loss. Never blocks.
     */
    Duration remaining();

    /**
     * Whether {@link #remaining()} is exact for the server that the session is attached to, or can be late by a
     * follower's lag.
     */
    boolean deadlineIsStrict();

    /**
     * The generation of the backend's numbers, if it keeps one: raised whenever zxids may have been lost or re-wound.
     */
    OptionalLong generation();

    /**
     * Why the last attempt to connect has failed, while there is no connection; empty if there is one, or if the
     * backend cannot tell. Never blocks.
     */
    default Optional<Throwable> connectFailure() {
        return Optional.empty();
    }

    /**
     * Closes the session: its ephemeral znodes are deleted. The stage completes when the backend has confirmed it, or
     * when the session must be gone, or at once if the backend cannot be reached (the session then expires by itself).
     * Never blocks.
     */
    CompletionStage<Void> closeAsync();
}
