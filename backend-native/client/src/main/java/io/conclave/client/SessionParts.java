package io.conclave.client;

/**
 * What the classes of one session share. Each part keeps what it is named for, and says which threads may use it; where
 * it does not, the session's event loop does.
 *
 * @param errors told of answers that may concern more than their request
 */
record SessionParts(
        SessionLoop loop,
        Deliveries deliveries,
        RequestCodec codec,
        RequestQueue queue,
        SessionStatus status,
        SessionClock clock,
        SessionTicket ticket,
        SessionWatches watches,
        SessionLink link,
        ErrorListener errors) {
    /** Told of answers that may concern more than their request. */
    @FunctionalInterface
    interface ErrorListener {
        /**
         * A request was answered with an error.
         *
         * @param request in a few words
         */
        void onError(int err, String request);
    }
}
