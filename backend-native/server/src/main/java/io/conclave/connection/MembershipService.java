package io.conclave.connection;

import io.conclave.consensus.ChangeOutcomeUnknownException;
import io.conclave.consensus.MembershipChange;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Changes the membership of the cluster, from any server. From any thread, without blocking. */
@FunctionalInterface
public interface MembershipService {

    /**
     * Makes the changes one after the other; completes, on any thread, when the last is committed, and exceptionally
     * with a {@link ChangeOutcomeUnknownException} if some may be made though not all are known to be.
     */
    CompletionStage<@Nullable Void> change(List<MembershipChange> changes);
}
