package io.conclave.client;

import java.util.Optional;

/** Asks for the members of the ensemble. No answer is needed: the servers known so far stay. */
final class EnsembleExchange extends OwnRead {
    private final EnsembleFollower follower;

    EnsembleExchange(SessionParts.ErrorListener errors, EnsembleFollower follower) {
        super(errors, EnsembleFollower.PATH, false);
        this.follower = follower;
    }

    @Override
    void onData(Optional<byte[]> data) {
        data.ifPresent(follower::onMembers);
    }
}
