package io.conclave.testkit.driver;

import io.conclave.error.LossReason;
import io.conclave.grant.FencedGrant;
import io.conclave.grant.FencingToken;
import io.conclave.grant.Grant;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** What the driver needs to know of something held: a lock, leadership, a permit. */
public interface HeldClaim {
    /** How long it surely lasts from now; zero if it is not held. Never blocks. */
    Duration remaining();

    /** Completes with the reason when it is not held any more. */
    CompletionStage<LossReason> lost();

    /** The token, if it has one; its zxid is the creation zxid of the claim's znode. */
    Optional<FencingToken> token();

    /** Gives it back. May block; must not throw for a lost connection or a lost claim. */
    void close();

    /** A grant as a claim; if it is a fenced one, with its token. */
    static HeldClaim of(Grant grant) {
        return new HeldClaim() {
            @Override
            public Duration remaining() {
                return grant.remaining();
            }

            @Override
            public CompletionStage<LossReason> lost() {
                return grant.lost();
            }

            @Override
            public Optional<FencingToken> token() {
                return grant instanceof FencedGrant fenced ? Optional.of(fenced.token()) : Optional.empty();
            }

            @Override
            public void close() {
                grant.close();
            }

            @Override
            public String toString() {
                return grant.toString();
            }
        };
    }
}
