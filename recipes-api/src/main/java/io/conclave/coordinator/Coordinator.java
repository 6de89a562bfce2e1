package io.conclave.coordinator;

import io.conclave.error.CredentialsRejectedException;
import io.conclave.request.Request;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * An application's connection to a coordination backend: it holds one session, keeps it alive, and opens a new one when
 * it is lost.
 *
 * <p>Locks and the other recipes are made from it; an application usually has one. Thread-safe. The znodes can also be
 * worked with directly, through {@link #execute} and {@link #submit}.
 *
 * <p>When the session is lost, its ephemeral znodes and watches are gone and all grants made under it stay lost;
 * requests made after that go to the new session.
 */
public interface Coordinator extends AutoCloseable {
    /**
     * Connects with default settings. Blocks until the first connection, for 15 seconds at most.
     *
     * @param connectString chooses the backend: {@code embedded:}, {@code embedded:/var/lib/app}, {@code
     *     conclave://h1:2181,h2:2181/chroot}, {@code zookeeper://h1:2181}
     * @throws IllegalArgumentException if the connect string breaks a rule or names a scheme without a backend on the
     *     class path
     * @throws io.conclave.error.ConnectException if there is no connection in time, a server rejects the credentials,
     *     or the thread is interrupted (its flag is kept)
     */
    static Coordinator connect(String connectString) {
        return builder(connectString).connect();
    }

    /** As {@link #connect}, without blocking; see {@link CoordinatorBuilder#connectAsync}. */
    static CompletableFuture<Coordinator> connectAsync(String connectString) {
        return builder(connectString).connectAsync();
    }

    /**
     * Starts to connect with default settings, and returns a coordinator that is CONNECTING: for an application that
     * must start while the servers are down; see {@link CoordinatorBuilder#start}.
     */
    static Coordinator start(String connectString) {
        return builder(connectString).start();
    }

    /** Settings beyond the defaults. */
    static CoordinatorBuilder builder(String connectString) {
        return new CoordinatorBuilder(connectString);
    }

    /**
     * The session's state now: CONNECTING until the first connection, LOST while a new session is being opened after a
     * loss. Never blocks.
     */
    SessionState state();

    /**
     * Tells a listener of every change of state. It is called serially on a listener thread and may block; other
     * listeners do not wait for it.
     */
    Registration onStateChange(Consumer<SessionState> listener);

    /**
     * Tells a listener each time that a server rejects the credentials of this coordinator, and at once if that was so
     * at the last attempt. It is called serially on a listener thread and may block.
     *
     * <p>From then on every request is refused with {@link io.conclave.error.RefusalReason#AUTH_FAILED}, without
     * waiting. A session that was connected is SUSPENDED, and LOST when its timeout is over. The coordinator tries
     * again with its next session, once in each session timeout, since a server's users can be changed: an application
     * that does not want that closes the coordinator.
     */
    Registration onRejection(Consumer<CredentialsRejectedException> listener);

    /**
     * Submits a request. Never blocks. Requests are executed in the order in which they were submitted. The future
     * completes on a listener thread, with the answer or with one of the kinds of failure (see
     * {@link io.conclave.error}); a read whose outcome is unknown is sent again by the retry policy. A watcher of the
     * request is called on a listener thread and may block; its events are queued for it before the futures of requests
     * that saw newer state complete.
     *
     * <p>All futures of one coordinator complete one after the other. So a continuation that blocks holds up the
     * others, and one that waits for another of them never ends; {@link #execute} may be called there. Cancelling a
     * future does not take its request back.
     *
     * @param <R> what the backend answers
     */
    <R> CompletableFuture<R> submit(Request<R> request);

    /**
     * Submits a request and waits for its answer. While the connection is away it waits for the next one, until the
     * session is gone.
     *
     * @param <R> what the backend answers
     * @throws io.conclave.error.ConclaveException the failure, by kind
     * @throws InterruptedException if the thread is interrupted while waiting; the request may still take effect
     */
    <R> R execute(Request<R> request) throws InterruptedException;

    /**
     * This object as an instance of another of its types, also through a proxy that a container has put around it. For
     * recipes, which need more of it than applications see.
     *
     * @throws IllegalArgumentException if it has no such type
     */
    <T> T unwrap(Class<T> type);

    /**
     * Closes the session and what the coordinator holds. What was asked for before goes out first if there is a
     * connection: requests, releases, and acknowledgements of a queue's items. What waits for others ends with
     * {@link io.conclave.error.ClosedException}. Blocks until the backend has confirmed it, for a few seconds at most,
     * also if another call has begun to close it. Idempotent.
     */
    @Override
    void close();

    /**
     * As {@link #close()}, without blocking. The future completes on a listener thread when the coordinator is closed,
     * also if another call closes it. Cancelling it changes nothing. A process that is about to exit waits for the
     * future: the thread that closes is a daemon.
     *
     * <p>An implementation of another make, which wraps one of ours, may leave this to {@link #close()} on a thread.
     */
    default CompletableFuture<Void> closeAsync() {
        return CompletableFuture.runAsync(this::close, closing -> {
            Thread thread = new Thread(closing, "conclave-close");
            thread.setDaemon(true);
            thread.start();
        });
    }
}
