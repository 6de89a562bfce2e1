package io.conclave.client;

import java.util.Optional;

/** Asks for the members of the ensemble. No answer is needed: the servers known so far stay. */
final class EnsembleExchange extends OwnRead {
    private final EnsembleFollower follower;

    EnsembleExchange(SessionMachine session, EnsembleFollower follower) {
        super(session, EnsembleFollower.PATH, false);
        this.follower = follower;
    }

    @Override
    void onData(Optional<byte[]> data) {
        data.ifPresent(follower::onMembers);
    }
}
