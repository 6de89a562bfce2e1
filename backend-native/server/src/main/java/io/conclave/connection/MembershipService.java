package io.conclave.connection;

import io.conclave.consensus.ChangeOutcomeUnknownException;
import io.conclave.consensus.MembershipChange;
import java.util.List;

/** Changes the membership of the cluster, from any server. From any thread, without blocking. */
@FunctionalInterface
public interface MembershipService {

    /** Waits for changes that it has asked for; hears of them once. */
    interface Asker {
        /**
         * The last is committed, and applied here: also if that is the last thing that this server shows its clients,
         * since it is no member any more. On the log's thread.
         */
        void made();

        /**
         * Not made; or not all are known to be made, with a {@link ChangeOutcomeUnknownException}. On any thread.
         */
        void failed(Throwable cause);
    }

    /** Makes the changes one after the other. */
    void change(List<MembershipChange> changes, Asker asker);
}
