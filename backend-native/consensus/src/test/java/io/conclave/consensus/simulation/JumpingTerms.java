package io.conclave.consensus.simulation;

import io.conclave.consensus.core.PeerMessage;
import java.util.List;
import java.util.Random;

/** Messages of terms that no election can have come to, as damaged or malicious peers would send them. */
public final class JumpingTerms {
    private static final long LEAST = 1L << 41;

    private JumpingTerms() {}

    /** Whether no election can have come to the term. */
    public static boolean isOne(long term) {
        return term >= LEAST;
    }

    /** @param directory the receiver's */
    public static PeerMessage message(Random random, long directory) {
        long term = random.nextBoolean() ? Long.MAX_VALUE : LEAST + random.nextInt(1_000_000);
        return switch (random.nextInt(4)) {
            case 0 -> new PeerMessage.VoteReply(random.nextBoolean(), term, false, false, 0);
            case 1 -> new PeerMessage.Append(term, 0, 0, 0, 0, List.of());
            case 2 -> new PeerMessage.AppendReply(term, false, 0, 0, 0, 0);
            default -> new PeerMessage.VoteRequest(false, term, 0, 0, directory, true);
        };
    }
}
