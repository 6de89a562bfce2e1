package io.conclave.testkit.memory;

import io.conclave.request.Request;

/**
 * Decides what happens to each request of a store. A driver that counts the requests of a clean run and repeats the run
 * once for each request and fault implements it.
 *
 * <p>Called under the store's lock, on the thread that submits the request or that brings the connection back. It may
 * use the store's {@link Faults}, and must not block.
 */
@FunctionalInterface
public interface RequestHook {
    /**
     * A request is about to be executed.
     *
     * @param sessionId whose it is
     * @param request the request, with absolute paths
     * @param index how many requests this store was asked to execute before, closings included
     */
    RequestFate onRequest(long sessionId, Request<?> request, long index);

    /**
     * A session is about to be closed by its owner. Whatever is decided, the session is closed for its owner; only what
     * the store does differs.
     *
     * @param sessionId which
     * @param index how many requests this store was asked to execute before, closings included
     */
    default RequestFate onClose(long sessionId, long index) {
        return RequestFate.PROCEED;
    }
}
