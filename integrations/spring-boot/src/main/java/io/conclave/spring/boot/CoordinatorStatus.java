package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.session.SessionState;
import java.util.Optional;

/**
 * A coordinator's state in words, as health and the endpoint show it.
 *
 * @param reason why it is not connected; empty if it is
 */
record CoordinatorStatus(SessionState state, Optional<String> reason) {
    /** As it is now. Never blocks. */
    static CoordinatorStatus of(Coordinator coordinator) {
        SessionState state = coordinator.state();
        return new CoordinatorStatus(
                state,
                switch (state) {
                    case CONNECTED -> Optional.empty();
                    case CONNECTING -> withFailure("There has been no connection yet", coordinator);
                    case SUSPENDED -> withFailure("The connection was lost; the session may live", coordinator);
                    case LOST -> withFailure("The session was lost, and a new one is not open yet", coordinator);
                    case CLOSED -> Optional.of("The coordinator was closed");
                });
    }

    private static Optional<String> withFailure(String what, Coordinator coordinator) {
        return Optional.of(RecipeAccess.session(coordinator)
                .connectFailure()
                .map(failure -> what + ". The last attempt to connect failed: " + failure.getMessage())
                .orElse(what));
    }
}
