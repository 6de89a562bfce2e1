package io.conclave.connection;

import io.conclave.node.Bytes;
import io.conclave.tree.AuthId;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Makes the server's side of SASL exchanges. Thread-safe. */
public interface SaslService {
    /**
     * Begins an exchange. Never blocks.
     *
     * @param client its name in messages
     */
    Exchange begin(String client);

    /** One exchange: a step at a time. */
    interface Exchange {
        /**
         * Takes a token of the client. Never blocks.
         *
         * @param then called once, on a thread of the service
         */
        void step(byte[] token, Consumer<Outcome> then);

        /** No step follows: frees what the exchange holds, once a step under way is done. Never blocks. Idempotent. */
        void end();
    }

    /**
     * What a token led to.
     *
     * @param failed whether the exchange has failed
     * @param answer the server's token, if there is one
     * @param proved the ids that the client has proved; empty while the exchange goes on
     */
    record Outcome(boolean failed, Optional<Bytes> answer, List<AuthId> proved) {
        /** The exchange has failed. */
        public static final Outcome FAILED = new Outcome(true, Optional.empty(), List.of());
    }
}
