package io.conclave.consensus;

import java.util.List;
import java.util.Optional;

/**
 * The join tokens that a member has made, and what it gives for them. Thread-safe. The methods may block, and are
 * called on background threads.
 */
public interface JoinTokens {
    /** There are none. */
    JoinTokens NONE = new JoinTokens() {
        @Override
        public Optional<JoinToken> find(long id) {
            return Optional.empty();
        }

        @Override
        public void wrongProof(long id) {}

        @Override
        public Optional<List<byte[]>> redeem(long id) {
            return Optional.empty();
        }
    };

    /** The token of that id, if it was made here and has neither expired nor been used. */
    Optional<JoinToken> find(long id);

    /** A caller has named the token, and proven that it does not have its key. */
    void wrongProof(long id);

    /**
     * Uses the token up, for good, before it returns.
     *
     * @return the cluster's secrets, the present one first; empty if it is not valid any more
     */
    Optional<List<byte[]>> redeem(long id);
}
